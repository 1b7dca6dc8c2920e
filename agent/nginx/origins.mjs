// @ts-check
// Prints origins of hosts and rules as groups of servers (`upstream`), one group per way to contact them. Only validated addresses are
// written, never names, so that they cannot change afterwards.

import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { oneOf, quote, Unwritable, variable, whole } from './quote.mjs';

/**
 * `addressesOf` returns only addresses that this edge may connect to. `speaksTls` is the detected protocol of an origin with scheme `auto`.
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

/** @typedef {import('../../src/edge/edge-config.ts').EdgeHost} EdgeHost */

const TLS_PORT = 443;
const MAX_ADDRESSES = 8;
const SCHEMES = /** @type {const} */ (['http', 'https']);

/**
 * Returns how a host is contacted, as a key that hosts of one server have in common. Undefined if the host needs its own server.
 * @param {EdgeHost} host
 * @param {OriginFacts} facts
 */
export function wayOf({ host, origins }, facts) {
  const [first] = origins;
  const isPlain = (/** @type {EdgeHost['origins'][number]} */ each) =>
    each.scheme === first?.scheme &&
    each.host_header === first.host_header &&
    each.timeout_seconds === first.timeout_seconds &&
    Number.isInteger(each.port) &&
    each.port > 0 &&
    each.port <= 65_535;
  if (first === undefined || first.scheme === 'auto' || host.startsWith('*')) return undefined;
  if (!origins.every(isPlain)) return undefined;
  if (!origins.some(({ destination }) => facts.addressesOf(destination).length > 0)) return undefined;
  return [first.scheme, first.host_header, first.timeout_seconds];
}

export class Upstreams {
  /** @type {Map<string, string>} */
  #texts = new Map();
  bytes = 0;

  /**
   * @param {string} prefix
   * @param {OriginFacts} facts
   */
  constructor(prefix, facts) {
    this.prefix = prefix;
    this.facts = facts;
  }

  /** @param {Way} way @returns {Target} */
  targetOf(way) {
    const hostHeader = way.hostHeader === '' ? undefined : way.hostHeader;
    if (hostHeader !== undefined && !/^[A-Za-z0-9._-]{1,253}(?::[0-9]{1,5})?$/.test(hostHeader))
      throw new Unwritable('the Host header is not a host name');
    const timeoutSeconds = whole(way.timeoutSeconds, 1, 3_600);
    return { pass: this.#passTo(way), hostHeader, timeoutSeconds };
  }

  /**
   * Prints a table for hosts that are contacted in the same way, each at its own origins. A server for each would cost nginx a thousand
   * times as much.
   * @param {readonly EdgeHost[]} hosts with one `wayOf`
   * @returns {Target}
   */
  targetOfHosts(hosts) {
    const {
      scheme = 'http',
      host_header: hostHeader,
      timeout_seconds: timeoutSeconds = 15,
    } = hosts[0]?.origins[0] ?? {};
    const common = { scheme, hostHeader, timeoutSeconds };
    const schemes = scheme === 'default' ? SCHEMES : SCHEMES.filter((each) => each === scheme);
    const entries = hosts.flatMap(({ host, origins }) =>
      schemes.map((each) => {
        const members = origins.map(({ destination, port }) => ({ destination, port }));
        return `  ${quote(`${each} ${host}`)} ${quote(this.#placeOf(each, { ...common, members }))};\n`;
      }),
    );
    const asked = scheme === 'default' ? '$scheme' : scheme;
    const body = `{\n${entries.join('')}}\n`;
    const name = `${this.prefix}_${createHash('sha256').update(body).digest('hex').slice(0, 12)}_to`;
    this.#keep(name, `map "${asked} $host" $${name} ${body}`);
    return { ...this.targetOf({ ...common, members: [] }), pass: `${asked}://$${name}` };
  }

  /**
   * Returns an address, or a group for several addresses, because nginx searches all groups one after another.
   * @param {'http' | 'https'} scheme
   * @param {Way} way
   */
  #placeOf(scheme, way) {
    const [first, ...more] = this.#serversOf(scheme, way);
    if (first === undefined) throw new Unwritable('no address of the origins is known');
    return more.length === 0 ? first.place : (this.#add(scheme, way) ?? '');
  }

  /** @param {string} name @param {string} text */
  #keep(name, text) {
    if (!this.#texts.has(name)) this.bytes += text.length;
    this.#texts.set(name, text);
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
    // The scheme of the request: one group for each, because the ports differ.
    const [plain, secure] = [this.#add('http', way), this.#add('https', way)];
    return plain && secure && `$scheme://${plain.replace(/http$/, '')}$scheme`;
  }

  /**
   * @param {'http' | 'https'} scheme
   * @param {Way} way
   */
  #add(scheme, way) {
    const servers = this.#serversOf(scheme, way);
    if (servers.length === 0) return undefined;
    const lines = servers.map(
      ({ place, weight, backup }) => `  server ${place} weight=${weight}${backup ? ' backup' : ''};\n`,
    );
    // The hash is of the way, not of the addresses, so that both schemes of a way share it.
    const hash = createHash('sha256').update(JSON.stringify(way)).digest('hex').slice(0, 12);
    const name = `${this.prefix}_${hash}_${scheme}`;
    const method = way.method === 'hash' ? '  hash $remote_addr consistent;\n' : '';
    this.#keep(name, `upstream ${name} {\n${method}${lines.join('')}}\n`);
    return name;
  }

  /**
   * @param {'http' | 'https'} scheme
   * @param {Way} way
   */
  #serversOf(scheme, way) {
    const servers = way.members.flatMap((member) => {
      const port = whole(member.port, 1, 65_535);
      // The port of a record is 443 unless it is set; plain HTTP then uses 80.
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
      return { place, weight, backup: backup && hasRegular };
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
