#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nginx whose workers read files by a pool of threads, under load from ab: no request may fail.
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
source "$root/integrations/web.sh"
packages=(nginx-light apache2-utils python3)
policies=(none mutex ticket)
most_waiting=3
ending=QUIT

prepare() {
  prepare_files
  local user=
  [[ $EUID -ne 0 ]] || user="user root;"
  cat > "$work/nginx.conf" << END
$user
daemon off;
worker_processes 2;
thread_pool readers threads=4;
pid $work/server.pid;
error_log stderr;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path $work/body;
  proxy_temp_path $work/proxy;
  fastcgi_temp_path $work/fastcgi;
  uwsgi_temp_path $work/uwsgi;
  scgi_temp_path $work/scgi;
  server {
    listen 127.0.0.1:$port;
    root $work/files;
    aio threads=readers;
    sendfile off;
    output_buffers 4 32k;
  }
}
END
}

start_server() { "${under[@]}" /usr/sbin/nginx -e stderr -c "$work/nginx.conf" & }

integration nginx "$@"
