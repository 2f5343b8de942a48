"""The engines beside `runs.LocalEngine`: a server's batch endpoint, and Ray."""
