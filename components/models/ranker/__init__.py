"""The rankers on the page: why they picked, what they have learnt, and how to train one."""
