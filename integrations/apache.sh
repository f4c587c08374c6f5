#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Apache with its module mpm_event, two processes of eight threads, under load from ab: no request may fail.
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/lib.sh"
source "$root/integrations/web.sh"
packages=(apache2 apache2-utils python3)
policies=(none mutex ticket)
most_waiting=3
ending=TERM
ab_options=()  # where it has more connections than threads, this server closes some that are kept: ab calls that a failure

prepare() {
  prepare_files
  local modules=/usr/lib/apache2/modules user=
  [[ $EUID -ne 0 ]] || user=$'User www-data\nGroup www-data'
  cat > "$work/apache.conf" << END
ServerRoot $work
ServerName localhost
Listen 127.0.0.1:$port
PidFile $work/server.pid
ErrorLog $work/error.log
$user
LoadModule mpm_event_module $modules/mod_mpm_event.so
LoadModule authz_core_module $modules/mod_authz_core.so
StartServers 2
ServerLimit 2
ThreadsPerChild 8
MaxRequestWorkers 16
KeepAlive On
MaxKeepAliveRequests 0
DocumentRoot $work/files
<Directory $work/files>
  Require all granted
</Directory>
END
}

start_server() { "${under[@]}" /usr/sbin/apache2 -f "$work/apache.conf" -DFOREGROUND & }

integration apache "$@"
