// @ts-check
// From configs to what nginx serves: prints what has changed, has nginx judge it, and reloads once for all of it.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DomainFiles } from './apply-files.mjs';
import { parentsOf, writeWhole } from './kept-configs.mjs';
import { printDomain } from './nginx/domain.mjs';
import { printMain } from './nginx/main.mjs';
import { Unwritable } from './nginx/quote.mjs';
import { printCoreRules, readCoreRules } from './nginx/waf.mjs';
import { NginxProcess } from './nginx-process.mjs';

/**
 * @typedef {import('./nginx/domain.mjs').Unsupported} Unsupported
 * @typedef {import('./kept-configs.mjs').KeptConfigs} KeptConfigs
 * @typedef {import('./find-origins.mjs').FindOrigins} FindOrigins
 * @typedef {import('./keep-certificates.mjs').KeptCertificates} KeptCertificates
 */

const GEOIP = 'ngx_http_geoip2_module.so';

export class EdgeNginx {
  /** @type {Map<string, Unsupported[]>} */
  #unsupported = new Map();
  #generation = Math.trunc(Date.now() / 1_000);

  /**
   * @param {import('./settings.mjs').Settings} settings
   * @param {{ kept: KeptConfigs, origins: FindOrigins, certificates: KeptCertificates, log: (text: string) => void }} parts
   */
  constructor(settings, { kept, origins, certificates, log }) {
    const { state } = settings;
    this.settings = settings;
    this.kept = kept;
    this.origins = origins;
    this.certificates = certificates;
    this.log = log;
    this.folders = {
      state,
      empty: join(state, 'empty'),
      pages: join(state, 'pages'),
      cache: join(state, 'cache'),
      temporary: join(state, 'temporary'),
      domains: join(state, 'domains'),
      logs: join(state, 'logs'),
    };
    // nginx's workers may run as another user: what they read lies open, what is secret has closed folders of its own.
    for (const folder of Object.values(this.folders)) {
      mkdirSync(folder, { recursive: true, mode: folder === this.folders.domains ? 0o700 : 0o755 });
    }
    this.countries =
      settings.countries && existsSync(join(settings.modules, GEOIP)) ? settings.countries : undefined;
    this.waf = this.#prepareWaf();
    this.nginx = new NginxProcess(settings);
    this.files = new DomainFiles(this.folders.domains, () => this.nginx.test());
  }

  /** Nothing is told of a domain twice. */
  unsupported() {
    return [...this.#unsupported.values()].flat();
  }

  /** Serves what the last run left, before anything is heard. */
  async start() {
    this.#printMain();
    for (const domain of await this.files.mend()) this.log(`nginx takes the old file of ${domain} no more`);
    await this.nginx.load(this.#generation);
  }

  /** @param {Iterable<string>} domains */
  async apply(domains) {
    const known = new Set(this.kept.domains());
    /** @type {import('./apply-files.mjs').Changes} */
    const changes = new Map();
    for (const domain of domains) changes.set(domain, this.#print(domain, known));
    this.#generation++;
    this.#printMain();
    const { taken, refused } = await this.files.apply(changes);
    for (const [domain, why] of refused) this.#tellRefused(domain, why);
    if (taken.length > 0) await this.nginx.load(this.#generation);
    if (taken.length > 0) this.#removeUnused();
    return { taken, refused };
  }

  /**
   * @param {string} domain
   * @param {ReadonlySet<string>} known
   */
  #print(domain, known) {
    const config = this.kept.get(domain);
    this.#unsupported.delete(domain);
    if (config === undefined) return undefined;
    try {
      const { text, pages, unsupported } = printDomain(config, this.#factsFor(known));
      for (const { path, content } of pages) this.#writePage(path, content);
      if (unsupported.length > 0) this.#unsupported.set(domain, unsupported);
      return text;
    } catch (error) {
      if (!(error instanceof Unwritable)) throw error;
      this.#tellRefused(domain, error.message);
      return undefined;
    }
  }

  /** @param {ReadonlySet<string>} known */
  #factsFor(known) {
    const { listen, rateZone, cacheZone } = this.settings;
    const outer = (/** @type {string} */ domain) => parentsOf(domain).some((name) => known.has(name));
    return {
      listen,
      rateZone,
      cacheZone,
      folders: this.folders,
      hasCountries: this.countries !== undefined,
      waf: this.waf,
      certificateOf: (/** @type {number} */ id) => this.certificates.filesOf(id),
      innerDomains: (/** @type {string} */ domain) => this.kept.domainsBelow(domain),
      hasOuterDomain: outer,
      now: new Date(),
      addressesOf: (/** @type {string} */ destination) => this.origins.addressesOf(destination),
      speaksTls: (/** @type {string} */ destination, /** @type {number} */ port) =>
        this.origins.speaksTls(destination, port),
    };
  }

  #prepareWaf() {
    const { coreRules, modules } = this.settings;
    if (coreRules === undefined || !existsSync(join(modules, 'ngx_http_modsecurity_module.so')))
      return undefined;
    const rules = readCoreRules(coreRules);
    const file = join(this.folders.state, 'waf.conf');
    writeWhole(file, printCoreRules(rules));
    return { file, ids: rules.ids };
  }

  #printMain() {
    const { listen, statusPort, user, modules, trustedProxies, maxBody } = this.settings;
    const shared = { listen, statusPort, user, modules, trustedProxies, maxBody, folders: this.folders };
    const text = printMain({
      ...shared,
      hasWaf: this.waf !== undefined,
      countries: this.countries,
      generation: this.#generation,
    });
    writeWhole(join(this.folders.state, 'nginx.conf'), text);
  }

  /** @param {string} path @param {string} content */
  #writePage(path, content) {
    const file = join(this.folders.pages, path);
    if (existsSync(file)) return;
    mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
    writeWhole(file, content, 0o644);
  }

  /**
   * The old file stays; every rule of the domain is told, since none of what is new acts.
   * @param {string} domain
   * @param {string} why
   */
  #tellRefused(domain, why) {
    const [line = ''] = why.split('\n');
    this.log(`nginx refuses ${domain}: ${line}`);
    const reason = `not taken by nginx: ${line.replaceAll(/[^\x20-\x7e]/g, '?')}`.slice(0, 200);
    const rules = this.kept.get(domain)?.rules ?? [];
    this.#unsupported.set(
      domain,
      rules.map(({ id }) => ({ rule_id: id, why: reason })),
    );
  }

  #removeUnused() {
    const names = new Set();
    const pages = new Set();
    for (const domain of this.files.domains()) {
      const text = readFileSync(this.files.pathOf(domain), 'utf8');
      for (const [, name] of text.matchAll(/\/certificates\/(\d+-[0-9a-f]{16})\./g)) names.add(name);
      for (const [, page] of text.matchAll(/\/\.zonefleet-page\/([0-9a-f]{16}\.\w+);/g)) pages.add(page);
    }
    this.certificates.removeUnused((name) => names.has(name));
    for (const folder of readdirSync(this.folders.pages)) {
      for (const page of readdirSync(join(this.folders.pages, folder))) {
        if (!pages.has(page)) rmSync(join(this.folders.pages, folder, page), { force: true });
      }
    }
  }
}
