// @ts-check
// Where requests go: origins of hosts and of rules become groups of servers (`upstream`), one group for each way to ask them.
// Only addresses that were judged are written, never names, so that nothing can be pointed elsewhere afterwards.

import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { oneOf, quote, Unwritable, variable, whole } from './quote.mjs';

/**
 * `addressesOf` answers only what this edge may connect to; `speaksTls` what was found out of an origin with scheme `auto`.
 * @typedef {{
 *   addressesOf(destination: string): readonly string[],
 *   speaksTls(destination: string, port: number): boolean,
 * }} OriginFacts
 * @typedef {{ destination: string, port: number, weight?: number, backup?: boolean }} Member
 * @typedef {{
 *   scheme: 'http' | 'https' | 'auto' | 'default',
 *   hostHeader?: string | undefined,
 *   timeoutSeconds: number,
 *   method?: 'round_robin' | 'hash',
 *   members: readonly Member[],
 * }} Way
 * @typedef {{ pass: string | undefined, hostHeader: string | undefined, timeoutSeconds: number }} Target
 */

const TLS_PORT = 443;
const MAX_ADDRESSES = 8;

export class Upstreams {
  /** @type {Map<string, string>} */
  #texts = new Map();

  /**
   * @param {string} prefix
   * @param {OriginFacts} facts
   */
  constructor(prefix, facts) {
    this.prefix = prefix;
    this.facts = facts;
  }

  /**
   * @param {Way} way
   * @returns {Target}
   */
  targetOf(way) {
    const hostHeader = way.hostHeader === '' ? undefined : way.hostHeader;
    if (hostHeader !== undefined && !/^[A-Za-z0-9._-]{1,253}(?::[0-9]{1,5})?$/.test(hostHeader))
      throw new Unwritable('a host header that is no host');
    const timeoutSeconds = whole(way.timeoutSeconds, 1, 3_600);
    return { pass: this.#passTo(way), hostHeader, timeoutSeconds };
  }

  print() {
    return [...this.#texts.values()].join('');
  }

  /** @param {Way} way */
  #passTo(way) {
    const [first] = way.members;
    if (first === undefined) return undefined;
    const found = oneOf(way.scheme, ['http', 'https', 'auto', 'default']);
    const auto = this.facts.speaksTls(first.destination, first.port) ? 'https' : 'http';
    const scheme = found === 'auto' ? auto : found;
    if (scheme !== 'default') {
      const name = this.#add(scheme, way);
      return name && `${scheme}://${name}`;
    }
    // As the request came: a group for each, since the ports differ.
    const [plain, secure] = [this.#add('http', way), this.#add('https', way)];
    return plain && secure && `$scheme://${plain.replace(/http$/, '')}$scheme`;
  }

  /**
   * @param {'http' | 'https'} scheme
   * @param {Way} way
   */
  #add(scheme, way) {
    const lines = this.#serversOf(scheme, way);
    if (lines.length === 0) return undefined;
    // The hash is over the way, not over the addresses: both schemes of one way share it.
    const hash = createHash('sha256').update(JSON.stringify(way)).digest('hex').slice(0, 12);
    const name = `${this.prefix}_${hash}_${scheme}`;
    const method = way.method === 'hash' ? '  hash $remote_addr consistent;\n' : '';
    this.#texts.set(name, `upstream ${name} {\n${method}${lines.join('')}}\n`);
    return name;
  }

  /**
   * @param {'http' | 'https'} scheme
   * @param {Way} way
   */
  #serversOf(scheme, way) {
    const servers = way.members.flatMap((member) => {
      const port = whole(member.port, 1, 65_535);
      // A record's port is 443 unless somebody said another: plain HTTP goes to 80 then.
      const plain = scheme === 'http' && port === TLS_PORT ? 80 : port;
      return this.facts
        .addressesOf(member.destination)
        .slice(0, MAX_ADDRESSES)
        .map((address) => ({
          place: isIPv6(address) ? `[${address}]:${plain}` : `${address}:${plain}`,
          weight: whole(member.weight ?? 1, 1, 1_000),
          backup: member.backup === true,
        }));
    });
    const hasRegular = servers.some(({ backup }) => !backup);
    const places = new Set();
    return servers.flatMap(({ place, weight, backup }) => {
      if (places.has(place) || (backup && hasRegular && way.method === 'hash')) return [];
      places.add(place);
      return `  server ${place} weight=${weight}${backup && hasRegular ? ' backup' : ''};\n`;
    });
  }
}

/**
 * @param {Target} target
 * @param {{ websockets: boolean }} settings
 */
export function printProxy({ pass, hostHeader, timeoutSeconds }, { websockets }) {
  if (pass === undefined) return '    return 502;\n';
  const host = hostHeader === undefined ? quote(variable('host')) : quote(hostHeader);
  const name = hostHeader === undefined ? host : quote(hostHeader.replace(/:\d+$/, ''));
  const connection = websockets
    ? '    proxy_set_header Upgrade $http_upgrade;\n    proxy_set_header Connection $zf_connection;\n'
    : '    proxy_set_header Upgrade "";\n    proxy_set_header Connection "";\n';
  return `    proxy_pass ${pass};
    proxy_http_version 1.1;
    proxy_ssl_server_name on;
    proxy_ssl_name ${name};
    proxy_set_header Host ${host};
    proxy_set_header X-Real-IP $remote_addr;
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header X-Forwarded-Proto $scheme;
    proxy_set_header X-Forwarded-Host "";
    proxy_set_header Forwarded "";
    proxy_set_header Proxy "";
    proxy_set_header CDN-Loop $zf_cdn_loop;
${connection}    proxy_connect_timeout ${Math.min(timeoutSeconds, 60)}s;
    proxy_send_timeout ${timeoutSeconds}s;
    proxy_read_timeout ${timeoutSeconds}s;
    proxy_next_upstream_timeout ${timeoutSeconds}s;
`;
}
