// @ts-check
// Prints the configuration that all domains share. It has no text from customers.

import { REFRESHER } from '../refresh-url.mjs';
import { LOG_FORMAT } from '../requests/request-line.mjs';
import { above, CAPS } from './cache.mjs';
import { quote, whole } from './quote.mjs';

/**
 * @typedef {{
 *   listen: { http: readonly string[], https: readonly string[] },
 *   statusPort: number,
 *   user: string | undefined,
 *   modules: string,
 *   hasWaf: boolean,
 *   countries: { file: string, field: readonly string[] } | undefined,
 *   trustedProxies: readonly string[],
 *   maxBody: string,
 *   reports: boolean,
 *   folders: { state: string, temporary: string, domains: string, logs: string, reports: string },
 *   generation: number,
 * }} Shared
 */

/** @param {Shared} shared */
export function printMain(shared) {
  const { folders, listen } = shared;
  const load = (/** @type {string} */ name) => `load_module ${quote(`${shared.modules}/${name}`)};\n`;
  return `${shared.hasWaf ? load('ngx_http_modsecurity_module.so') : ''}${
    shared.countries === undefined ? '' : load('ngx_http_geoip2_module.so')
  }${shared.user === undefined ? '' : `user ${quote(shared.user)};\n`}worker_processes auto;
worker_shutdown_timeout 10m;
pid ${quote(`${folders.state}/nginx.pid`)};
error_log ${quote(`${folders.logs}/error.log`)} warn;
events {
  worker_connections 4096;
}
http {
  server_tokens off;
  uninitialized_variable_warn off;
  absolute_redirect off;
  default_type application/octet-stream;
  client_max_body_size ${shared.maxBody};
  large_client_header_buffers 4 8k;
  client_header_timeout 15s;
  client_body_timeout 60s;
  keepalive_timeout 60s;
  reset_timedout_connection on;
  server_names_hash_max_size 1048576;
  server_names_hash_bucket_size 512;
  map_hash_max_size 1048576;
  map_hash_bucket_size 512;
  variables_hash_max_size 262144;
  variables_hash_bucket_size 128;
  proxy_headers_hash_max_size 2048;
  proxy_headers_hash_bucket_size 128;
  ssl_protocols TLSv1.2 TLSv1.3;
  ssl_session_cache shared:zonefleet:10m;
  ssl_session_tickets off;
${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  .map((kind) => `  ${kind}_temp_path ${quote(`${folders.temporary}/${kind}`)};\n`)
  .join('')}${shared.trustedProxies.map((network) => `  set_real_ip_from ${quote(network)};\n`).join('')}${
  shared.trustedProxies.length === 0 ? '' : '  real_ip_header X-Forwarded-For;\n'
}  log_format zonefleet escape=json '{"at":"$time_iso8601","host":"$host","method":"$request_method","uri":"$request_uri","status":$status,"octets":$body_bytes_sent,"seconds":$request_time,"client":"$remote_addr","cache":"$upstream_cache_status","rule":"$zf_rule"}';
  log_format zonefleet_dry escape=json '{"at":"$time_iso8601","host":"$host","method":"$request_method","uri":"$request_uri","client":"$remote_addr","would":"$zf_dry"}';
  access_log ${quote(`${folders.logs}/access.log`)} zonefleet buffer=64k flush=1s;
  access_log ${quote(`${folders.logs}/dry-run.log`)} zonefleet_dry buffer=64k flush=1s if=$zf_dry;
${shared.reports ? printReport(`${folders.reports}/requests.log`) : ''}  geo $zf_dollar { default "$"; }
${printCountries(shared.countries)}  map $uri $zf_bad_path { default ""; "~[\\x00-\\x1f\\x7f]" 1; }
  map $request_uri $zf_raw_path { default "/"; "~\\A[/\\x5c]+([^?]*)" "/$1"; }
  map $args $zf_and_args { default "&$args"; "" ""; }
  map $args $zf_question_args { default "?$args"; "" ""; }
  map $http_upgrade $zf_connection { default upgrade; "" ""; }
  map $http_cdn_loop $zf_cdn_loop { default "$http_cdn_loop, zonefleet"; "" zonefleet; }
  map $http_cdn_loop $zf_loop { default ""; "~*(?:\\A|[\\s,])zonefleet\\b" 1; }
  map "$https|$ssl_server_name|$host" $zf_misdirected { default 1; "~\\A\\|" ""; "~*\\Aon\\|([^|]*)\\|\\1\\z" ""; }
${CAPS.map((cap) => `  map $upstream_http_content_length $zf_over_${cap} { default ""; "~${above(cap * 1024 * 1024)}" 1; }\n`).join('')}  server {
    listen 127.0.0.1:${whole(shared.statusPort, 1, 65_535)};
    server_name localhost;
    access_log off;
    set $zf_rule "";
    set $zf_dry "";
    set $zf_path "";
    set $zf_target "";
    set $zf_chosen "";
    set $zf_limit "";
    set $zf_waf "";
    set $zf_reason "";
    location = /generation { return 200 ${shared.generation}; }
    location = /status { stub_status; }
    location / { return 404; }
  }
  server {
${listen.http.map((place) => `    listen ${place} default_server;\n`).join('')}    return 421;
  }
  server {
${listen.https.map((place) => `    listen ${place} ssl http2 default_server;\n`).join('')}    ssl_reject_handshake on;
    return 421;
  }
  include ${quote(`${folders.domains}/*.conf`)};
}
`;
}

/** Logs requests for proxied hosts, which have names, except those of the agent. @param {string} file */
function printReport(file) {
  return `  map "$http_user_agent $realip_remote_addr $server_addr" $zf_told { default 1; "~\\A${REFRESHER} ([^ ]+) \\1\\z" ""; }
  map "$server_name|$zf_reason" $zf_reported { default $zf_told; "~\\A\\|" ""; "~\\|not_served\\z" ""; }
  log_format zonefleet_report escape=json '${LOG_FORMAT}';
  access_log ${quote(file)} zonefleet_report buffer=64k flush=1s if=$zf_reported;
`;
}

/** @param {Shared['countries']} countries */
function printCountries(countries) {
  if (countries === undefined) return '  map $uri $zf_country { default ""; }\n';
  if (!countries.field.every((part) => /^[a-z_]+$/.test(part))) throw new Error('countries.field is invalid');
  return `  geoip2 ${quote(countries.file)} { $zf_country default="" ${countries.field.join(' ')}; }\n`;
}
