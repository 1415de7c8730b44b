"""What other programs ask: requests over sockets in, what the rooms know out."""
