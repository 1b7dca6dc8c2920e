// Scans a zone for the records that it appears to have: its servers' answers for a list of names, and for the names in
// those answers.
//
//   the zone ──> apex and wildcard ──> names, one question each ──> NXDOMAIN: nothing below either
//                                        ▲       │                └> referral: a delegation, nothing below it is ours
//                     below, beside, and │       └> there, and no wildcard made it ──> its other types
//                     spoken of by records └────────────────────────────┘

import type { WalkFailure } from '../../checks/delegation/evidence.ts';
import type { Scan } from '../../checks/scan/scan.ts';
import { foldCase, type Name, printName, ROOT } from '../../dns/name.ts';
import { MAX_RECORDS } from '../replies/classify-reply.ts';
import type { Limits } from '../state/limits.ts';
import type { ResolverState } from '../state/resolver-state.ts';
import { runWork } from '../state/run-work.ts';
import { Stopped, type Work } from '../state/work.ts';
import { type ReachResult, reachZone } from '../walk/reach-zone.ts';
import { ZoneScan } from './scan-progress.ts';
import { ScanServers } from './scan-servers.ts';
import { SCAN_WORDS } from './scan-words.ts';

export interface ScanProgress {
  /** Number of finished names, and of names known so far. */
  readonly names: number;
  readonly of: number;
  readonly queries: number;
  readonly records: number;
}

export interface ScanOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called frequently while the scan runs. */
  readonly onProgress?: (progress: ScanProgress) => void;
  /** Words to try. The default is the shipped list. */
  readonly words?: readonly string[];
}

/**
 * Limits of one scan (docs/rules.md "Scan and import"). The usual limits apply to referrals and address lookups, which
 * serve the zone's nameservers.
 */
const SCAN_LIMITS: Partial<Limits> = { packets: 4000, milliseconds: 60_000 };

/** Rejects with the signal's reason when that aborts. */
export async function scanZone(state: ResolverState, name: Name, options: ScanOptions): Promise<Scan> {
  const domain = foldCase(name);
  if (domain === ROOT) throw new RangeError('the root cannot be scanned');
  const { now, limits: usual } = state.around;
  const startedAt = now();
  const limits = { ...usual, ...SCAN_LIMITS };
  return runWork(state, { limits, signal: options.signal }, async (work) => {
    const reached = await tryToReach(state, domain, work);
    const servers = new ScanServers(state, work, reached.kind === 'zone' ? reached.zone : undefined);
    const scan = new ZoneScan(domain, servers, {
      words: options.words ?? SCAN_WORDS,
      random: state.around.random,
      onProgress: (progress) => options.onProgress?.({ ...progress, queries: work.packets }),
    });
    let stopped: Stopped | undefined;
    try {
      await scan.run();
    } catch (error) {
      if (!(error instanceof Stopped) || error.by === 'aborted') throw error;
      stopped = error;
    } finally {
      work.abort(); // end lookups that are no longer needed
      await servers.settle();
    }
    const failure = servers.answers > 0 ? undefined : failureOf(domain, reached);
    const { records, wildcards, names, ...rest } = scan.results();
    const missing = missingOf(servers, stopped, rest);
    return {
      domain,
      records,
      wildcards,
      complete: servers.answers > servers.fromResolvers && missing.length === 0,
      shortfalls: [...denialOf(domain, reached, records), ...missing, ...doubtsOf(servers)],
      failure,
      names,
      queries: work.packets,
      startedAt,
      finishedAt: now(),
    };
  });
}

async function tryToReach(state: ResolverState, domain: Name, work: Work): Promise<ReachResult> {
  try {
    return await reachZone(state, domain, work);
  } catch (error) {
    if (!(error instanceof Stopped) || error.by === 'aborted') throw error;
    return { kind: 'failed', failure: { zone: work.reached, reason: 'limit', message: error.message } };
  }
}

function failureOf(domain: Name, reached: ReachResult): WalkFailure {
  if (reached.kind === 'failed') return reached.failure;
  const message = `no useful reply from any server of ${printName(domain)}`;
  return { zone: reached.zone.zone, reason: 'unreachable', message };
}

/** Some servers deny names that have other names below them. A domain with records exists in any case. */
function denialOf(domain: Name, reached: ReachResult, records: Scan['records']): string[] {
  if (reached.kind === 'failed' || reached.isDenied !== true || records.length > 0) return [];
  return [
    `${printName(domain)} does not exist: NXDOMAIN from the servers of ${printName(reached.zone.zone)}`,
  ];
}

interface ScanRemainder {
  readonly recordsLeft: number;
  readonly namesLeft: number;
  readonly hasMoreNames: boolean;
}

/** Describes what was not queried, not answered or not kept. */
function missingOf(servers: ScanServers, stopped: Stopped | undefined, left: ScanRemainder): string[] {
  const missing: string[] = [];
  if (stopped !== undefined) missing.push(`${stopped.message}: ${left.namesLeft} names were not queried`);
  if (left.hasMoreNames) missing.push('there are more names than a scan may query');
  if (servers.unanswered > 0) missing.push(`${servers.unanswered} queries had no answer`);
  if (servers.excessive > 0) {
    missing.push(`${servers.excessive} answers with more than ${MAX_RECORDS} records were omitted`);
  }
  if (left.recordsLeft > 0) {
    missing.push(`${left.recordsLeft} records were omitted because the scan found more than it may keep`);
  }
  return missing;
}

/** Describes records that exist but may be incorrect. */
function doubtsOf(servers: ScanServers): string[] {
  if (servers.fromResolvers === 0) return [];
  const answers =
    servers.fromResolvers === servers.answers ? 'all answers' : `${servers.fromResolvers} answers`;
  return [`${answers} are from public resolvers: TTLs may be too low, and delegations may be missing`];
}
