// Prints checks: names without the final dot, DS records in zone file format, unknown values absent. Only global
// admins see problems with the nameservers of this service.

import type { z } from 'zod';
import type { Evidence, ServerEvidence } from '../../checks/delegation/evidence.ts';
import type { Name } from '../../dns/name.ts';
import { printRdata } from '../../dns/record/rdata.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { SavedRun } from '../../store/checks/check-runs.ts';
import type { SavedChildCheck } from '../../store/checks/child-checks.ts';
import { decodeNameColumn } from '../../store/postgres/name-column.ts';
import type { DomainStatus } from '../../zone/domain/domain-status.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { Check } from '../schemas/checks/check.ts';
import { moments } from '../schemas/fields.ts';

type Printed = z.input<typeof Check>;

export function printCheck(run: SavedRun): Printed {
  const { currentNs, matchedNs, parent, evidence, vantages } = run;
  return {
    id: run.id,
    domain_id: run.domainId,
    kind: run.kind,
    started_at: run.startedAt.toISOString(),
    finished_at: run.finishedAt.toISOString(),
    last_seen_at: run.lastSeenAt.toISOString(),
    repeated: run.repeated,
    verdict: run.verdict,
    findings: run.findings.map(({ code, message, names }) => ({
      code,
      message,
      ...(names !== undefined && names.length > 0 && { names: printNames(names) }),
    })),
    status_before: publicStatus(run.statusBefore),
    status_after: publicStatus(run.statusAfter),
    ...(currentNs !== undefined && { current_ns: printNames(currentNs) }),
    ...(matchedNs !== undefined && { matched_set: printNames(matchedNs) }),
    ...(parent !== undefined && { parent: printWithoutDot(parent) }),
    ...(evidence !== undefined && { security: evidence.security ?? 'indeterminate' }),
    queries: run.queries,
    ...moments({ next_check_at: run.nextCheckAt }),
    ...(evidence !== undefined && printEvidence(evidence)),
    ...(vantages !== undefined && {
      vantages: vantages.map(({ label, word, kind, ns }) => ({
        network: label,
        word,
        saw: kind,
        ...(kind === 'delegated' && { ns: printNames(ns) }),
      })),
    }),
  };
}

/** For any reader: the evidence contains nothing about customers. */
export function printEvidence({ walk, failure, servers }: Evidence): Pick<Printed, 'failure'> & {
  walk: NonNullable<Printed['walk']>;
  evidence: NonNullable<Printed['evidence']>;
} {
  return {
    walk: walk.map((at) => ({
      zone: printWithoutDot(at.zone),
      servers: printNames(at.servers),
      cached: at.cached,
    })),
    ...(failure !== undefined && {
      failure: { zone: printWithoutDot(failure.zone), message: failure.message },
    }),
    evidence: servers.map(printServer),
  };
}

function printServer(server: ServerEvidence): NonNullable<Printed['evidence']>[number] {
  const { address, rttMs, outcome, rcode, aa, ns, glue, ttl, ds, showsCut, proof, error } = server;
  return {
    server: printWithoutDot(server.server),
    ...(address !== '' && { address }),
    transport: server.transport,
    ...(server.needed !== undefined && { needed: [...server.needed] }),
    asked_at: new Date(server.askedAt).toISOString(),
    ...(rttMs !== undefined && { rtt_ms: rttMs }),
    outcome,
    ...(rcode !== undefined && { rcode }),
    ...(aa !== undefined && { aa }),
    ...((outcome === 'referral' || outcome === 'answer') && { ns: printNames(ns) }),
    ...(glue !== undefined && {
      glue: glue.map((each) => ({ name: printWithoutDot(each.name), address: each.address })),
    }),
    ...(ttl !== undefined && { ttl }),
    ...(ds.length > 0 && { ds: ds.map((rdata) => printRdata(TYPE.DS, rdata)) }),
    ...(showsCut !== undefined && { shows_cut: showsCut }),
    ...(proof !== undefined && { proof }),
    ...(error !== undefined && { error }),
  };
}

function printNames(names: readonly Name[]): string[] {
  return names.map(printWithoutDot);
}

/** A domain that is leaving is in external mode, and stays in it when it is no longer served. */
function publicStatus(status: DomainStatus | 'leaving' | 'left' | 'ended'): DomainStatus {
  if (status === 'ended') return 'disabled';
  return status === 'leaving' || status === 'left' ? 'unverified' : status;
}

type PrintedChild = NonNullable<z.input<typeof Check>['child']>;

export function printChildCheck(check: SavedChildCheck, isAdmin: boolean): PrintedChild {
  const { checkedAt, findings, evidence, queries } = check;
  const shown = findings.filter(({ place }) => isAdmin || place !== 'operator');
  return {
    checked_at: checkedAt.toISOString(),
    findings: shown.map(({ names, ...finding }) => ({
      ...finding,
      ...(names.length > 0 && { names: names.map(printWithoutDot) }),
    })),
    servers: evidence.servers.map(({ name, glue, addresses, ...server }) => ({
      ...server,
      name: printColumn(name),
      glue: [...glue],
      addresses: [...addresses],
    })),
    addresses: evidence.addresses.map(({ servers, edns, ...probe }) => ({
      ...probe,
      edns: edns as PrintedChild['addresses'][number]['edns'], // written by the same fleet
      servers: servers.map(printColumn),
    })),
    complete: evidence.complete,
    queries,
  };
}

function printColumn(name: string): string {
  return printWithoutDot(decodeNameColumn(name));
}
