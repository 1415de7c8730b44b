"""Requests in, pictures and figures for people out: what the window really contained.

Read `snapshot` and `snapshot_folder` (recording), `monitor` (occupation over time), `inspection` (the JSON result),
`treemap` (the picture), `json_rpc` and `socket_server` (serving it).
"""
