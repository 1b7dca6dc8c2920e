// Prints the TXT record that proves a domain, and its lookups.

import type { z } from 'zod';
import type { Verification } from '../../store/domains/domain.ts';
import type { VerificationLine, VerificationRun } from '../../store/verifications/load-verifications.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { VerificationLook } from '../schemas/checks/verification.ts';
import { moments } from '../schemas/fields.ts';

/** `progress` contains the newest lookup of the value, if there was one. */
export function printVerification(
  verification: Verification,
  nowMs: number,
  progress: { readonly run: VerificationRun | undefined } | undefined,
) {
  const { host, value, verified, verifiedUntil, expiresAt } = verification;
  return {
    host: printWithoutDot(host),
    type: 'TXT' as const,
    value,
    verified,
    ...moments({ verified_until: verifiedUntil }),
    expires_at: expiresAt.toISOString(),
    seconds_remaining: Math.max(0, Math.floor((expiresAt.getTime() - nowMs) / 1000)),
    ...(progress !== undefined && printProgress(verification, progress.run)),
  };
}

function printProgress({ nextAt }: Verification, run: VerificationRun | undefined) {
  return {
    ...moments({ checked_at: run?.finishedAt ?? null, next_attempt_at: nextAt }),
    found: run?.found ?? 0,
    asked: run?.asked ?? 0,
    servers: printServers(run?.servers ?? []),
    resolvers: [...(run?.resolvers ?? [])],
    message: run?.message ?? NO_LOOKUP,
  };
}

function printServers(servers: VerificationLine['servers']) {
  return servers.map(({ server, address, outcome, values }) => ({
    server: printWithoutDot(server),
    ...(address !== '' && { address }),
    outcome,
    ...(values !== undefined && { values: [...values] }),
  }));
}

const NO_LOOKUP = 'This value has not been looked up yet.';

export function printLook(line: VerificationLine): z.input<typeof VerificationLook> {
  const { id, kind, value, verdict, found, asked, message, changeId } = line;
  return {
    ...{ id, kind },
    started_at: line.startedAt.toISOString(),
    finished_at: line.finishedAt.toISOString(),
    ...{ value, verdict, found, asked },
    servers: printServers(line.servers),
    resolvers: [...line.resolvers],
    message,
    ...(changeId !== null && { change_id: changeId }),
  };
}
