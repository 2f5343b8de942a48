# The app for a team, behind a proxy that speaks TLS (docs/safety.md). The log shows the link with its token; the store is on a volume.
#   docker build -t evidencebench .
#   docker run -p 127.0.0.1:8501:8501 -v evidencebench:/data -e EVIDENCEBENCH_TOKEN=... evidencebench
FROM python:3.12-slim
RUN apt-get update && apt-get install -y --no-install-recommends libgomp1 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY requirements.lock torch.lock ./
RUN pip install --no-cache-dir --no-deps --require-hashes -r requirements.lock \
 && pip install --no-cache-dir --no-deps --require-hashes -r torch.lock --index-url https://download.pytorch.org/whl/cpu
COPY . .
RUN pip install --no-cache-dir --no-deps --no-build-isolation . && rm -rf /src/* \
 && useradd --uid 1000 --home-dir /data reader && mkdir /data && chown reader /data
ENV EVIDENCEBENCH_STORE=/data/store.sqlite EVIDENCEBENCH_CACHE=/data/cache EVIDENCEBENCH_RANKER=/data/ranker
USER reader
WORKDIR /data
VOLUME /data
EXPOSE 8501
ENTRYPOINT ["evidencebench", "app", "--no-browser", "--host", "0.0.0.0", "--port", "8501"]
CMD ["--sample"]
