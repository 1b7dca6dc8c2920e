// @ts-check
// Looks up and validates the addresses of origins, again every minute; nginx gets only addresses. If a lookup fails, the last
// addresses stay.

import { promises } from 'node:dns';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { listOf, mayConnect } from './judge-address.mjs';

const AT_ONCE = 32;
const MAX_ADDRESSES = 8;
const PROBE_MS = 3_000;

/** @typedef {import('../src/edge/edge-config.ts').EdgeConfig} EdgeConfig */

export class FindOrigins {
  /** @type {Map<string, string[]>} */
  #addresses = new Map();
  /** @type {Map<string, boolean>} */
  #tls = new Map();

  /** @param {{ resolvers: readonly string[], allowOrigins: readonly string[], denyOrigins: readonly string[] }} settings */
  constructor({ resolvers, allowOrigins, denyOrigins }) {
    this.allowed = listOf(allowOrigins);
    this.denied = listOf(denyOrigins);
    this.resolver = new promises.Resolver({ timeout: 2_000, tries: 2 });
    if (resolvers.length > 0) this.resolver.setServers(resolvers);
  }

  /** @param {string} destination */
  addressesOf(destination) {
    const found = isIP(destination) === 0 ? (this.#addresses.get(destination) ?? []) : [destination];
    return found.filter((address) => mayConnect(address, this.allowed, this.denied));
  }

  /** @param {string} destination @param {number} port */
  speaksTls(destination, port) {
    return this.#tls.get(`${destination} ${port}`) ?? port === 443;
  }

  /**
   * Looks up unknown destinations, or all of them.
   * @param {readonly EdgeConfig[]} configs
   * @param {boolean} again
   * @returns {Promise<Set<string>>} destinations whose addresses or protocols have changed
   */
  async look(configs, again) {
    const wanted = new Map(
      configs
        .flatMap((config) => originsOf(config))
        .map((each) => [`${each.destination} ${each.port} ${each.isAuto}`, each]),
    );
    /** @type {Set<string>} */
    const changed = new Set();
    const left = [...wanted.values()];
    const work = async () => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) {
        if (await this.#lookUp(next.destination, again)) changed.add(next.destination);
        if (next.isAuto && (await this.#probe(next.destination, next.port, again)))
          changed.add(next.destination);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return changed;
  }

  /** Forgets destinations that no config uses. @param {readonly EdgeConfig[]} configs all configs */
  keepOnly(configs) {
    const destinations = new Set();
    const ports = new Set();
    for (const { destination, port, isAuto } of configs.flatMap((config) => originsOf(config))) {
      destinations.add(destination);
      if (isAuto) ports.add(`${destination} ${port}`);
    }
    for (const name of this.#addresses.keys()) if (!destinations.has(name)) this.#addresses.delete(name);
    for (const key of this.#tls.keys()) if (!ports.has(key)) this.#tls.delete(key);
  }

  /** Number of remembered origins. */
  get size() {
    return this.#addresses.size + this.#tls.size;
  }

  /** @param {string} name @param {boolean} again */
  async #lookUp(name, again) {
    const held = this.#addresses.get(name);
    if (isIP(name) !== 0 || (held !== undefined && !again)) return false;
    const answers = await Promise.allSettled([this.resolver.resolve4(name), this.resolver.resolve6(name)]);
    const found = answers.flatMap((answer) =>
      answer.status === 'fulfilled' ? answer.value.sort().slice(0, MAX_ADDRESSES) : [],
    );
    if (found.length === 0 || found.join() === held?.join()) return false;
    this.#addresses.set(name, found);
    return true;
  }

  /** @param {string} destination @param {number} port @param {boolean} again */
  async #probe(destination, port, again) {
    const key = `${destination} ${port}`;
    const held = this.#tls.get(key);
    const [address] = this.addressesOf(destination);
    if (address === undefined || (held !== undefined && !again)) return false;
    const speaks = await speaksTls(address, port);
    this.#tls.set(key, speaks);
    return speaks !== held;
  }
}

/** @param {string} host @param {number} port @returns {Promise<boolean>} */
function speaksTls(host, port) {
  return new Promise((resolve) => {
    // Only checks whether the port speaks TLS; no data is sent.
    const socket = connect({ host, port, rejectUnauthorized: false, timeout: PROBE_MS });
    const end = (/** @type {boolean} */ speaks) => {
      socket.destroy();
      resolve(speaks);
    };
    socket.once('secureConnect', () => end(true));
    socket.once('error', () => end(false));
    socket.once('timeout', () => end(false));
  });
}

/** @param {EdgeConfig} config @returns {{ destination: string, port: number, isAuto: boolean }[]} */
export function originsOf({ hosts, rules }) {
  const own = hosts.flatMap(({ origins }) =>
    origins.map(({ destination, port, scheme }) => ({ destination, port, isAuto: scheme === 'auto' })),
  );
  const others = rules.flatMap((rule) => {
    if (rule.type === 'origin_route')
      return { destination: rule.destination, port: rule.port, isAuto: rule.scheme === 'auto' };
    if (rule.type === 'origin_pool')
      return rule.origins.map(({ host, port }) => ({ destination: host, port, isAuto: false }));
    return rule.type === 'bot_route' && rule.destination !== undefined
      ? { destination: rule.destination, port: 443, isAuto: false }
      : [];
  });
  return [...own, ...others];
}
