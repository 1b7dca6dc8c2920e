// A check of a domain's delegation: the responses of the parent's servers, the conclusion, and the status change.

import { z } from 'zod';
import { PLACES, SEVERITIES } from '../../../checks/child/child-codes.ts';
import { NEEDS } from '../../../checks/delegation/evidence.ts';
import { SEEN_KINDS } from '../../../checks/delegation/seen.ts';
import { VERDICTS } from '../../../checks/delegation/verdict.ts';
import { DOMAIN_STATUSES } from '../../../zone/domain/domain-status.ts';
import { Id, Timestamp } from '../fields.ts';

export const CHECK_KINDS = ['background', 'manual', 'operator'] as const;

export const SERVER_OUTCOMES = [
  'referral',
  'answer',
  'nodata',
  'nxdomain',
  'alias',
  'lame',
  'timeout',
  'refused',
  'servfail',
  'bad',
  'bogus',
  'limit',
] as const;

const Names = z.array(z.string());

const ServerEvidence = z.object({
  server: z.string().describe('A nameserver of the parent zone.'),
  address: z.string().optional().describe('The address that was queried. Absent for `database`.'),
  transport: z
    .enum(['udp', 'tcp', 'database'])
    .describe('`database`: this service hosts the parent zone, and looked up the delegation there.'),
  needed: z
    .array(z.enum(NEEDS))
    .optional()
    .describe(
      'Changes to the query that were necessary before the server answered it: `tcp` (over TCP), `no_edns` (without EDNS), `lower_case` (instead of letters in random case). Absent if the server answered the first query.',
    ),
  asked_at: Timestamp,
  rtt_ms: z.number().min(0).optional().describe('Absent if there was no reply.'),
  outcome: z
    .enum(SERVER_OUTCOMES)
    .describe('The outcomes from `referral` to `alias` are conclusive. The others count as no reply.'),
  rcode: z.int().min(0).optional().describe('0 is NOERROR, 3 is NXDOMAIN.'),
  aa: z.boolean().optional().describe('True if the answer was authoritative.'),
  ns: Names.optional().describe('The delegation that the server returned.'),
  glue: z
    .array(z.object({ name: z.string(), address: z.string() }))
    .optional()
    .describe('The addresses that the server returned with it.'),
  ttl: z.int().min(0).optional().describe('TTL of the delegation or of the negative answer, in seconds.'),
  ds: Names.optional().describe('The DS records that the server returned with it, in zone file format.'),
  shows_cut: z
    .boolean()
    .optional()
    .describe(
      "With `answer`, if no server refers: true if the server's reply to a DS query shows that the parent delegates the domain.",
    ),
  proof: z
    .enum(['secure', 'insecure'])
    .optional()
    .describe(
      'Result of validating the DS records, or the absence of records, with the keys of a secure parent. It never covers the NS records, which have no signatures. `insecure`: nothing is proven. Absent if nothing was validated.',
    ),
  error: z.string().optional().describe('The error.'),
});

const ChildCheck = z
  .object({
    checked_at: Timestamp,
    findings: z.array(
      z.object({
        code: z.string(),
        severity: z.enum(SEVERITIES),
        place: z
          .enum(PLACES)
          .describe(
            'The place to fix it: the `registrar`, or the `zone` (by the operator of its nameservers). `operator`: it concerns the servers of this service, and only admins see it.',
          ),
        message: z.string().describe('A description of the problem, and what to change.'),
        names: Names.optional().describe('The nameservers concerned.'),
      }),
    ),
    servers: z.array(
      z.object({
        name: z.string(),
        at_parent: z.boolean().describe('True if the parent names this server.'),
        in_zone: z.boolean().describe('True if the zone names this server.'),
        glue: Names.describe('The addresses that the parent returns.'),
        addresses: Names.describe("The addresses that the server's own zone returns."),
      }),
    ),
    addresses: z
      .array(
        z.object({
          address: z.string(),
          servers: Names,
          soa: z
            .string()
            .describe('`answer`, or the outcome instead. `unasked` if the address was not queried.'),
          ns: z.string(),
          tcp: z.string(),
          edns: z.enum(['works', 'refused', 'silent', 'unknown']),
          serial: z.int().min(0).optional(),
        }),
      )
      .describe('The responses of each address.'),
    complete: z.boolean().describe('True if everything was queried. False if a limit was reached first.'),
    queries: z.int().min(0).describe('Number of packets sent.'),
  })
  .meta({ id: 'ChildCheck' });

export const Check = z
  .object({
    id: Id,
    domain_id: Id,
    kind: z
      .enum(CHECK_KINDS)
      .describe(
        '`background`: requested by the service. `manual`: requested with `ns-check`. `operator`: requested by the operator.',
      ),
    started_at: Timestamp,
    finished_at: Timestamp,
    last_seen_at: Timestamp.describe('Time of the newest check with the same result.'),
    repeated: z.int().min(0).describe('Number of later checks of the service with the same result.'),
    verdict: z
      .enum(VERDICTS)
      .describe(
        '`match`: delegated to exactly one accepted set. `partial`: to some names of one set. `extra`: to a whole set and other names. `mixed`: to names of several sets. `foreign`: to no name of this service. `not_delegated`: the name exists but has no delegation. `unregistered`: the name does not exist. `alias`: the name is a CNAME or below a DNAME. `unknown`: nothing reliable was learned, which never changes a status.',
      ),
    findings: z.array(
      z.object({
        code: z.string(),
        message: z.string().describe('A description of the problem, and what to change.'),
        names: Names.optional().describe('The nameservers concerned.'),
      }),
    ),
    status_before: z.enum(DOMAIN_STATUSES),
    status_after: z.enum(DOMAIN_STATUSES),
    current_ns: Names.optional().describe(
      'The delegation that the parent shows. Empty if the parent shows that there is none. Absent if nothing was learned.',
    ),
    matched_set: Names.optional().describe('With `match`: the accepted set.'),
    parent: z.string().optional().describe('The zone that has the delegation. Absent if it was not found.'),
    security: z
      .enum(['secure', 'insecure', 'indeterminate'])
      .optional()
      .describe(
        '`secure`: DNSSEC signatures form a chain from the root to the parent zone. `insecure`: a zone on the path proves that the chain ends there. `indeterminate`: nothing was or could be validated. Only with the evidence.',
      ),
    queries: z.int().min(0).describe('Number of packets sent.'),
    next_check_at: Timestamp.optional(),
    walk: z
      .array(
        z.object({
          zone: z.string(),
          servers: Names.describe('Its nameservers. Empty for a zone that this service hosts.'),
          cached: z.boolean().describe('True if the servers were already known.'),
        }),
      )
      .optional()
      .describe('The zones from the root to the parent zone, both included. Only with the evidence.'),
    failure: z
      .object({ zone: z.string(), message: z.string() })
      .optional()
      .describe(
        'Why the parent was not found or not queried, and the zone at which that happened. Only with the evidence.',
      ),
    evidence: z
      .array(ServerEvidence)
      .optional()
      .describe('The response of each address of the parent. In lists only with `evidence=true`.'),
    vantages: z
      .array(
        z.object({
          network: z.string().describe('The network in which these observers are. They count as one.'),
          word: z
            .enum(['agrees', 'differs', 'silent'])
            .describe(
              '`agrees`: they confirm the observation that changed the status, or would have changed it.',
            ),
          saw: z.enum(SEEN_KINDS).describe('`split`: the observers of this network saw different things.'),
          ns: Names.optional().describe('With `delegated`: the delegation that they saw.'),
        }),
      )
      .optional()
      .describe(
        'Observations from other networks. Observers are asked if a check would change the status. The status changes only if they agree.',
      ),
    child: ChildCheck.optional().describe(
      "The newest check of the domain's own nameservers, with its own time. Advice only: no status depends on it. Not in lists.",
    ),
  })
  .meta({ id: 'Check' });

/** The part of a check that anyone may read. */
export const PublicCheck = z
  .object({
    name: z.string().describe('Lower-case A-labels, without the final dot.'),
    name_unicode: z.string(),
    check: z
      .object({
        checked_at: Timestamp,
        ...Check.pick({ parent: true, walk: true, failure: true, evidence: true, queries: true }).required({
          walk: true,
          evidence: true,
        }).shape,
      })
      .optional()
      .describe('The newest check. Absent if there was none recently.'),
  })
  .meta({ id: 'PublicCheck' });
