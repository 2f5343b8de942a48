/** Writes values into the address as it stands: a step that is not worth one of Back. */
export default function ({ data }) {
  const address = new URL(location.href);
  if (!address.pathname.endsWith(`/${data.page}`)) return; // drawn once more on the way to another page
  for (const [name, value] of Object.entries(data.values)) {
    if (value) address.searchParams.set(name, value);
    else address.searchParams.delete(name);
  }
  if (address.href !== location.href) history.replaceState(history.state, "", address);
}
