"""OpenStack Swift with its S3 interface, whole and on one host: proxy, account, container and object server.

One process, no root, nothing outside the folder given: `swift_server.py FOLDER ACCESS_KEY SECRET_KEY`. It prints its port
once it listens, and ends when its standard input closes. Needs Debian's swift-proxy, swift-account, swift-container
and swift-object.
"""

import os
import socket
import sys
import threading

import eventlet

eventlet.monkey_patch()

import swift.common.utils as utils

FOLDER = os.path.abspath(sys.argv[1])
ACCESS, SECRET = sys.argv[2:4]
REGION = "us-east-1"
# Our own, not /etc/swift's: read by every part at import.
utils.SWIFT_CONF_FILE = os.path.join(FOLDER, "swift.conf")
with open(utils.SWIFT_CONF_FILE, "w") as conf:
    conf.write("[swift-hash]\nswift_hash_path_suffix = tests\nswift_hash_path_prefix = tests\n")
    # More than one part of a test's file; Amazon's own least is 5 MiB.
    conf.write("[swift-constraints]\nmax_file_size = 268435456\n")

import eventlet.wsgi
from swift.common.ring import RingBuilder
from swift.common.wsgi import loadapp

SERVERS = ("account", "container", "object")
DEVICES = os.path.join(FOLDER, "devices")

PROXY = """
[DEFAULT]
swift_dir = {folder}
log_level = ERROR
[pipeline:main]
pipeline = catch_errors gatekeeper cache listing_formats bulk s3api tempauth copy slo symlink versioned_writes proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:bulk]
use = egg:swift#bulk
[filter:s3api]
use = egg:swift#s3api
s3_acl = false
location = {region}
min_segment_size = 1
[filter:tempauth]
use = egg:swift#tempauth
user_{access} = {secret} .admin
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
[filter:symlink]
use = egg:swift#symlink
[filter:versioned_writes]
use = egg:swift#versioned_writes
allow_object_versioning = true
"""

BACKEND = """
[DEFAULT]
swift_dir = {folder}
devices = {devices}
mount_check = false
log_level = ERROR
[pipeline:main]
pipeline = {server}-server
[app:{server}-server]
use = egg:swift#{server}
fallocate_reserve = 0
"""


def listen():
    return eventlet.listen(("127.0.0.1", 0), backlog=128)


def write_ring(server, port):
    builder = RingBuilder(4, 1, 0)
    device = {"id": 0, "region": 1, "zone": 1, "weight": 1.0, "ip": "127.0.0.1", "port": port, "device": "d0"}
    builder.add_dev({**device, "replication_ip": "127.0.0.1", "replication_port": port, "meta": ""})
    builder.rebalance()
    builder.get_ring().save(os.path.join(FOLDER, f"{server}.ring.gz"))


def serve(name, text, sock):
    path = os.path.join(FOLDER, f"{name}.conf")
    with open(path, "w") as conf:
        conf.write(text)
    app = loadapp(path, global_conf={"log_name": name})
    log = open(os.path.join(FOLDER, f"{name}.log"), "a")
    eventlet.spawn(eventlet.wsgi.server, sock, app, log=log, log_output=False, debug=False)


def main():
    os.makedirs(os.path.join(DEVICES, "d0"), exist_ok=True)
    sockets = {server: listen() for server in SERVERS}
    for server, sock in sockets.items():
        write_ring(server, sock.getsockname()[1])
    for server, sock in sockets.items():
        serve(server, BACKEND.format(folder=FOLDER, devices=DEVICES, server=server), sock)
    proxy = listen()
    fields = {"folder": FOLDER, "region": REGION, "access": ACCESS.replace(":", "_"), "secret": SECRET}
    serve("proxy", PROXY.format(**fields), proxy)
    print(proxy.getsockname()[1], flush=True)
    eventlet.tpool.execute(sys.stdin.buffer.read)


main()
