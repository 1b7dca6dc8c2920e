#!/usr/bin/env node
// @ts-check
// An edge node's agent for nginx: follows the config feed, keeps the configs on disk, lets nginx serve them, and reports every ten
// seconds. Usage: `node agent.mjs SETTINGS.json` (docs/edge.md).

import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { Backoff, pause as pauseUntil } from './backoff.mjs';
import { CacheReport, cachedDomains } from './cache/report-cache.mjs';
import { EdgeClient, Refused } from './edge-client.mjs';
import { EdgeNginx } from './edge-nginx.mjs';
import { FindOrigins, originsOf } from './find-origins.mjs';
import { followPurges } from './follow-purges.mjs';
import { KeptCertificates } from './keep-certificates.mjs';
import { KeptConfigs, parentsOf } from './kept-configs.mjs';
import { holdAlone } from './only-one.mjs';
import { dropFormerCaches } from './purge-cache.mjs';
import { RequestReport } from './requests/report-requests.mjs';
import { octetsOf, readSettings } from './settings.mjs';

const VERSION = 'nginx-agent 1';
const HEALTH_MS = 10_000;
const LOOK_MS = 60_000;
/** Delay after files could not be applied. */
const AGAIN_MS = 500;
const GUARD_MS = 1_000;
const LONGEST_REST_MS = 300_000;
/** Limits of one report. */
const MAX_UNSUPPORTED = 1_000;

const [settingsFile] = process.argv.slice(2);
if (settingsFile === undefined) {
  console.error('usage: node agent.mjs SETTINGS.json');
  process.exit(2);
}
const settings = readSettings(settingsFile);
const stopped = new AbortController();
const log = (/** @type {string} */ text) =>
  console.log(`${new Date().toISOString()} ${text.replaceAll(/[^\x20-\x7e]/g, '?')}`);

const client = new EdgeClient(settings);
const kept = new KeptConfigs(settings.state);
const origins = new FindOrigins(settings);
const certificates = new KeptCertificates(settings.state, (id) => client.readCertificate(id));
const edge = new EdgeNginx(settings, { kept, origins, certificates, log });

/** Domains whose files must be written again. */
let dirty = new Set(kept.domains());
for (const domain of edge.files.domains()) dirty.add(domain);
let appliedCursor = kept.cursor;
let inSnapshot = false;
let lastLook = Date.now();

/** Waits, until the agent stops. @param {number} ms */
async function pause(ms) {
  await pauseUntil(ms, stopped.signal);
}

/** Marks the domains and those around them, because a domain's config depends on the domains below it. @param {readonly string[]} domains */
function mark(domains) {
  for (const domain of domains) {
    dirty.add(domain);
    for (const near of [...parentsOf(domain), ...kept.domainsBelow(domain)]) {
      if (kept.get(near) !== undefined) dirty.add(near);
    }
  }
}

async function follow() {
  const backoff = new Backoff();
  while (!stopped.signal.aborted) {
    try {
      for await (const line of client.followConfig(kept.cursor, stopped.signal)) {
        backoff.reset();
        if (line.snapshot !== undefined) inSnapshot = line.snapshot === 'begin';
        mark(kept.take(line));
      }
    } catch (error) {
      if (stopped.signal.aborted) return;
      // The API does not accept the cursor: start with a new snapshot.
      if (error instanceof Refused && error.status === 400) kept.cursor = undefined;
      log(`the feed was disconnected: ${error instanceof Error ? error.message : error}`);
    }
    kept.forgetSnapshot();
    inSnapshot = false;
    await backoff.wait(stopped.signal);
  }
}

/** Collects a burst of changes into one reload. */
async function serve() {
  while (!stopped.signal.aborted) {
    await pause(dirty.size > 0 ? settings.secondsBetweenReloads * 1_000 : 100);
    if (dirty.size === 0 && !inSnapshot) appliedCursor = kept.cursor;
    if (dirty.size === 0 || stopped.signal.aborted) continue;
    const domains = dirty;
    const cursor = kept.cursor;
    dirty = new Set();
    try {
      const configs = [...domains].map((domain) => kept.get(domain)).filter((config) => config !== undefined);
      await origins.look(configs, false);
      await fetchCertificates(configs);
      const { taken, refused } = await edge.apply(domains);
      if (taken.length > 0)
        log(`serving ${taken.length} changed domains${refused.size > 0 ? `, ${refused.size} refused` : ''}`);
      appliedCursor = cursor;
      if ([...domains].some((domain) => kept.get(domain) === undefined)) await dropFormer();
    } catch (error) {
      log(`could not apply changes: ${error instanceof Error ? error.message : error}`);
      for (const domain of domains) dirty.add(domain);
      await pause(AGAIN_MS);
    }
  }
}

/** @param {readonly import('../src/edge/edge-config.ts').EdgeConfig[]} configs */
async function fetchCertificates(configs) {
  for (const { domain, certificates: listed, suspended } of configs) {
    for (const certificate of suspended ? [] : listed) {
      try {
        await certificates.ensure(certificate);
      } catch (error) {
        log(`certificate ${certificate.id} of ${domain}: ${error instanceof Error ? error.message : error}`);
        setTimeout(() => dirty.add(domain), LOOK_MS).unref();
      }
    }
  }
}

async function dropFormer() {
  const served = kept.domains().flatMap((domain) => kept.get(domain)?.domain_id ?? []);
  await dropFormerCaches(settings.state, new Set(served)).catch((/** @type {Error} */ { message }) =>
    log(`could not delete old caches: ${message}`),
  );
}

/** Reports the caches of domains that have files, one after another. Disabled if the interval is zero. */
async function reportCache() {
  const report = new CacheReport(settings.state, (entries) => client.reportCache(entries));
  while (!stopped.signal.aborted && settings.secondsBetweenCacheReports > 0) {
    await pause(settings.secondsBetweenCacheReports * 1_000);
    const cached = await cachedDomains(settings.state);
    const configs = kept
      .domains()
      .flatMap((domain) => kept.get(domain) ?? [])
      .filter(({ domain_id }) => cached.has(domain_id) || report.reported.has(domain_id));
    await report.look(configs).catch((/** @type {Error} */ { message }) => {
      if (!stopped.signal.aborted) log(`could not report the cache: ${message}`);
    });
  }
}

async function reportRequests() {
  if (!settings.report) return;
  const requests = new RequestReport(join(settings.state, 'reports'), {
    mostBytes: octetsOf(settings.reportDisk),
    reopen: () => edge.nginx.reopenLogs(),
    send: (batch, octets, signal) => client.reportRequests(batch, octets, signal),
    log,
  });
  await requests.run(stopped.signal);
}

/** Applies changes that are not in the feed: addresses of origins, and ends of developer mode. */
async function lookAgain() {
  while (!stopped.signal.aborted) {
    await pause(LOOK_MS);
    const since = lastLook;
    lastLook = Date.now();
    const all = () => kept.domains().flatMap((domain) => kept.get(domain) ?? []);
    const configs = all();
    const changed = await origins.look(configs, true);
    // Reads the configs again, because more may have arrived meanwhile.
    origins.keepOnly(all());
    for (const config of configs) {
      const until = Date.parse(config.settings.developer_mode_until ?? '');
      const hasEnded = until > since && until <= lastLook;
      if (hasEnded || originsOf(config).some(({ destination }) => changed.has(destination)))
        dirty.add(config.domain);
    }
  }
}

/** Restarts nginx if it does not respond, with growing delays. */
async function guard() {
  let restMs = GUARD_MS;
  let since = Date.now();
  while (!stopped.signal.aborted) {
    await pause(GUARD_MS);
    if (stopped.signal.aborted) return;
    if (await edge.nginx.answers()) {
      if (Date.now() - since > LOOK_MS) restMs = GUARD_MS;
      continue;
    }
    try {
      await edge.revive();
      log('nginx responds again');
    } catch (error) {
      log(`nginx does not respond: ${error instanceof Error ? error.message : error}`);
    }
    await pause(restMs);
    since = Date.now();
    restMs = Math.min(restMs * 2, LONGEST_REST_MS);
  }
}

/** Reports only while nginx responds, because the fleet removes a silent edge. */
async function report() {
  while (!stopped.signal.aborted) {
    if (!(await edge.nginx.answers())) {
      await pause(GUARD_MS);
      continue;
    }
    const [lastMinute = 0] = loadavg();
    const load = Math.round((lastMinute / availableParallelism()) * 1_000) / 1_000;
    const unsupported = edge.unsupported().slice(0, MAX_UNSUPPORTED);
    try {
      await client.reportHealth({
        load,
        version: VERSION,
        ...(appliedCursor !== undefined && { cursor: appliedCursor }),
        unsupported,
      });
    } catch (error) {
      log(`could not report: ${error instanceof Error ? error.message : error}`);
    }
    await pause(HEALTH_MS);
  }
}

for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => stopped.abort());
await holdAlone(settings.state);
await edge.start();
log('nginx is running');
await dropFormer();
await Promise.all([
  follow(),
  serve(),
  followPurges(client, settings, log, stopped.signal),
  reportCache(),
  reportRequests(),
  lookAgain(),
  guard(),
  report(),
]);
// nginx keeps running.
process.exit(0);
