// @ts-check
// Makes nginx serve the configs: prints changed files, lets nginx test them, and reloads once.

import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DomainFiles } from './apply-files.mjs';
import { findCulprits } from './find-culprits.mjs';
import { parentsOf, writeWhole } from './kept-configs.mjs';
import { printDomain } from './nginx/domain.mjs';
import { printMain } from './nginx/main.mjs';
import { quote, Unwritable } from './nginx/quote.mjs';
import { printCoreRules, readCoreRules } from './nginx/waf.mjs';
import { NginxProcess } from './nginx-process.mjs';

/**
 * @typedef {import('./nginx/domain.mjs').Unsupported} Unsupported
 * @typedef {import('./nginx/domain.mjs').EdgeFacts} EdgeFacts
 * @typedef {import('./nginx/rules.mjs').EdgeRule} EdgeRule
 * @typedef {import('./kept-configs.mjs').KeptConfigs} KeptConfigs
 * @typedef {import('./find-origins.mjs').FindOrigins} FindOrigins
 * @typedef {import('./keep-certificates.mjs').KeptCertificates} KeptCertificates
 */

/** Folders with origin addresses. */
const CLOSED = ['domains', 'trial'];
const GEOIP = 'ngx_http_geoip2_module.so';

export class EdgeNginx {
  /** @type {Map<string, Unsupported[]>} */
  #unsupported = new Map();
  /** Domains whose newest config is not served, with the reasons. @type {Map<string, string>} */
  #refused = new Map();
  #generation = Math.trunc(Date.now() / 1_000);
  /** True if nginx has not loaded its current files yet. */
  #isBehind = false;
  /** Serializes starts of nginx and changes of its files. @type {Promise<unknown>} */
  #turn = Promise.resolve();

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
      trial: join(state, 'trial'),
      logs: join(state, 'logs'),
      reports: join(state, 'reports'),
    };
    // nginx's workers may run as another user, so their files are readable; secrets are in private folders.
    for (const folder of Object.values(this.folders)) {
      mkdirSync(folder, { recursive: true, mode: CLOSED.includes(basename(folder)) ? 0o700 : 0o755 });
    }
    for (const folder of [this.folders.logs, this.folders.reports]) closeToOthers(folder, settings.user);
    this.countries =
      settings.countries && existsSync(join(settings.modules, GEOIP)) ? settings.countries : undefined;
    this.waf = this.#prepareWaf();
    this.nginx = new NginxProcess(settings, join(state, 'nginx.conf'));
    this.trial = new NginxProcess(settings, join(state, 'trial.conf'));
    this.files = new DomainFiles(this.folders.domains, () => this.nginx.test());
  }

  /** Avoids repeated log entries for a domain. */
  unsupported() {
    return [...this.#unsupported.values()].flat();
  }

  /** Domains whose newest config is not served; an older one may be. */
  refused() {
    return [...this.#refused].map(([domain, why]) => ({ domain, why }));
  }

  /** Serves the configs of the last run, before the feed is connected. */
  async start() {
    await this.#alone(async () => {
      this.#printMain();
      for (const domain of await this.files.repair())
        this.log(`nginx no longer accepts the old file of ${domain}`);
      await this.nginx.load(this.#generation);
    });
  }

  /** Restarts nginx if it does not respond. */
  async revive() {
    await this.#alone(async () => {
      if (!(await this.nginx.answers())) await this.nginx.load(this.#generation);
    });
  }

  /** @param {Iterable<string>} domains */
  async apply(domains) {
    return await this.#alone(async () => await this.#apply(domains));
  }

  /** @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  async #alone(work) {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => undefined);
    return await mine;
  }

  /** @param {Iterable<string>} domains */
  async #apply(domains) {
    const facts = this.#factsFor(new Set(this.kept.domains()));
    /** @type {import('./apply-files.mjs').Changes} */
    const changes = new Map();
    /** @type {Map<string, string>} */
    const refused = new Map();
    for (const domain of domains) {
      this.#refused.delete(domain);
      const printed = this.#print(domain, facts);
      if ('why' in printed) refused.set(domain, printed.why);
      else changes.set(domain, printed.text);
    }
    this.#generation++;
    this.#printMain();
    const { taken, refused: byNginx } = await this.files.apply(changes);
    for (const [domain, why] of byNginx) refused.set(domain, why);
    for (const [domain, why] of refused) {
      if (!(await this.#applyOthers(domain, why, facts))) continue;
      taken.push(domain);
      refused.delete(domain);
    }
    this.#isBehind ||= taken.length > 0;
    if (this.#isBehind) {
      await this.nginx.load(this.#generation);
      this.#isBehind = false;
      this.#removeUnused();
    }
    return { taken, refused };
  }

  /**
   * @param {string} domain
   * @param {EdgeFacts} facts
   * @param {(rule: EdgeRule) => boolean} [isLeft] selects the rules to write, by default all
   * @returns {{ text: string | undefined } | { why: string }}
   */
  #print(domain, facts, isLeft = () => true) {
    const config = this.kept.get(domain);
    this.#unsupported.delete(domain);
    if (config === undefined) return { text: undefined };
    try {
      const rules = config.rules.filter(isLeft);
      const { text, pages, unsupported } = printDomain({ ...config, rules }, facts);
      for (const { path, content } of pages) this.#writePage(path, content);
      if (unsupported.length > 0) this.#unsupported.set(domain, unsupported);
      return { text };
    } catch (error) {
      if (!(error instanceof Unwritable)) throw error;
      return { why: error.message };
    }
  }

  /**
   * Serves a rejected domain without the rules at fault, which are reported. Returns false if the old file stays.
   * @param {string} domain
   * @param {string} why
   * @param {EdgeFacts} facts
   */
  async #applyOthers(domain, why, facts) {
    const culprits = await findCulprits(this.kept.get(domain)?.rules ?? [], async (rules) => {
      const printed = this.#print(domain, facts, (rule) => rules.includes(rule));
      if (!('text' in printed) || printed.text === undefined) return false;
      writeWhole(join(this.folders.trial, 'domain.conf'), printed.text);
      return (await this.trial.test()) === undefined;
    });
    const blamed = new Set(culprits);
    const printed = this.#print(domain, facts, (rule) => !blamed.has(rule));
    const isTaken =
      blamed.size > 0 &&
      'text' in printed &&
      (await this.files.apply(new Map([[domain, printed.text]]))).refused.size === 0;
    this.#tellRefused(domain, why, isTaken ? blamed : undefined);
    return isTaken;
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
    const { listen, statusPort, user, modules, trustedProxies, maxBody, report } = this.settings;
    const shared = {
      listen,
      statusPort,
      user,
      modules,
      trustedProxies,
      maxBody,
      reports: report,
      folders: this.folders,
    };
    const text = printMain({
      ...shared,
      hasWaf: this.waf !== undefined,
      countries: this.countries,
      generation: this.#generation,
    });
    writeWhole(join(this.folders.state, 'nginx.conf'), text);
    const { domains, trial } = this.folders;
    writeWhole(
      join(this.folders.state, 'trial.conf'),
      text.replace(`include ${quote(`${domains}/*.conf`)}`, `include ${quote(`${trial}/*.conf`)}`),
    );
  }

  /** @param {string} path @param {string} content */
  #writePage(path, content) {
    const file = join(this.folders.pages, path);
    if (existsSync(file)) return;
    mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
    writeWhole(file, content, 0o644);
  }

  /**
   * @param {string} domain
   * @param {string} why
   * @param {ReadonlySet<EdgeRule>} [culprits] if absent, the old file stays, and every rule is reported because none of the new ones applies
   */
  #tellRefused(domain, why, culprits) {
    const [line = ''] = why.split('\n');
    this.log(
      `rejected by nginx${culprits === undefined ? ' (the old config stays)' : ''}: ${domain}: ${line}`,
    );
    const reason = `not taken by nginx: ${line.replaceAll(/[^\x20-\x7e]/g, '?')}`.slice(0, 200);
    if (culprits === undefined) this.#refused.set(domain, reason);
    const rules = this.kept.get(domain)?.rules ?? [];
    const blamed = rules.filter((rule) => culprits?.has(rule) ?? true);
    const others = culprits === undefined ? [] : (this.#unsupported.get(domain) ?? []);
    this.#unsupported.set(domain, [...others, ...blamed.map(({ id }) => ({ rule_id: id, why: reason }))]);
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

/**
 * Closes the log folder to other users, because nginx's logs are world-readable and have addresses and queries of visitors. The group
 * of its workers may enter the folder to reopen logs, but not create files in it.
 * @param {string} folder
 * @param {string | undefined} user the workers' user; unknown if undefined
 */
function closeToOthers(folder, user) {
  if (process.getuid?.() === 0) {
    if (user === undefined) return;
    chownSync(folder, 0, Number(execFileSync('id', ['-g', user], { encoding: 'utf8' })));
  }
  chmodSync(folder, 0o750);
}
