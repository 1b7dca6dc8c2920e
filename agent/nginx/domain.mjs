// @ts-check
// Prints a domain as an nginx file: one server per proxied host, or for all hosts that differ only in their names. Invalid text of a
// domain can break only its own file, which nginx then rejects.

import { printChallenges } from './challenges.mjs';
import { Maps } from './match.mjs';
import { Upstreams } from './origins.mjs';
import { isHostName, quote, Unwritable, whole } from './quote.mjs';
import { groupHosts, printServer } from './server.mjs';

/**
 * @typedef {import('../../src/edge/edge-config.ts').EdgeConfig} EdgeConfig
 * @typedef {import('./origins.mjs').OriginFacts} OriginFacts
 * @typedef {{ rule_id: number, why: string }} Unsupported
 * @typedef {{ path: string, content: string }} Page
 * @typedef {OriginFacts & {
 *   listen: { http: readonly string[], https: readonly string[] },
 *   folders: { empty: string, pages: string, cache: string },
 *   hasCountries: boolean,
 *   waf: { file: string, ids: ReadonlySet<string> } | undefined,
 *   rateZone: string,
 *   cacheZone: string,
 *   certificateOf(id: number): { chain: string, key: string } | undefined,
 *   innerDomains(domain: string): readonly string[],
 *   hasOuterDomain(domain: string): boolean,
 *   now: Date,
 * }} EdgeFacts data of this edge in addition to the configs
 */

/** Enough for about 60,000 plain hosts, which are in a table. */
const MAX_FILE_BYTES = 8 * 1024 * 1024;
/** nginx needs about 100 KB per server in every worker. */
const MAX_SERVERS = 2_000;

export class RuleReport {
  /** @type {Map<number, string>} */
  #whys = new Map();

  /** @param {number} ruleId @param {string} why */
  add(ruleId, why) {
    if (!this.#whys.has(ruleId)) this.#whys.set(ruleId, why);
  }

  /** @returns {Unsupported[]} */
  list() {
    return [...this.#whys].map(([rule_id, why]) => ({ rule_id, why }));
  }
}

/**
 * @param {EdgeConfig} config
 * @param {EdgeFacts} facts
 * @returns {{ text: string, pages: Page[], unsupported: Unsupported[] }}
 */
export function printDomain(config, facts) {
  if (!isHostName(config.domain)) throw new Unwritable('the domain is not a valid name');
  const prefix = `zf_${whole(config.domain_id, 1, Number.MAX_SAFE_INTEGER)}`;
  const maps = new Maps(prefix);
  const upstreams = new Upstreams(prefix, facts);
  const report = new RuleReport();
  /** @type {Map<string, string>} */
  const httpBlocks = new Map();
  /** @type {Map<string, Page>} */
  const pages = new Map();
  const inner = facts.innerDomains(config.domain);
  const isInner = (/** @type {string} */ host) =>
    inner.some((name) => host === name || host.endsWith(`.${name}`));
  const isOwn = (/** @type {string} */ host) => host === config.domain || host.endsWith(`.${config.domain}`);
  const hosts = config.hosts.filter(({ host }) => isHostName(host) && isOwn(host) && !isInner(host));
  let bytes = 0;
  const groups = groupHosts(config, hosts, facts);
  if (groups.length > MAX_SERVERS)
    throw new Unwritable(`the domain has more than ${MAX_SERVERS} hosts that are served in different ways`);
  const servers = groups.map((group) => {
    const text = printServer(config, group, { facts, maps, upstreams, report, httpBlocks, pages, prefix });
    bytes += text.length;
    // Checked while printing, so that a file that is too large is not printed completely.
    if (bytes + maps.bytes + upstreams.bytes > MAX_FILE_BYTES)
      throw new Unwritable(
        `the configuration of the domain would be larger than ${MAX_FILE_BYTES >> 20} MiB`,
      );
    return text;
  });
  const rest = printRest(
    config,
    hosts.map(({ host }) => host),
    facts,
    isInner,
  );
  const text = [maps.print(), ...httpBlocks.values(), upstreams.print(), ...servers, rest].join('');
  return { text, pages: [...pages.values()], unsupported: report.list() };
}

/**
 * Prints servers for names of the domain that are not proxied: they answer challenges, and keep these requests from other domains.
 * @param {EdgeConfig} config
 * @param {readonly string[]} hosts
 * @param {EdgeFacts} facts
 * @param {(host: string) => boolean} isInner
 */
function printRest(config, hosts, facts, isInner) {
  if (!facts.hasOuterDomain(config.domain) && config.http01.length === 0) return '';
  const names = [config.domain, `*.${config.domain}`].filter(
    (name) => !hosts.includes(name) && !isInner(name),
  );
  if (names.length === 0) return '';
  return `server {
${facts.listen.http.map((place) => `  listen ${place};\n`).join('')}  server_name ${names.map((name) => quote(name)).join(' ')};
  set $zf_reason not_served;
${printChallenges(config)}  return 421;
}
server {
${facts.listen.https.map((place) => `  listen ${place} ssl http2;\n`).join('')}  server_name ${names.map((name) => quote(name)).join(' ')};
  ssl_reject_handshake on;
  return 421;
}
`;
}
