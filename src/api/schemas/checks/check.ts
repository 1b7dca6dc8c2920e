// A check of a domain's delegation: what the servers of the parent responded, what that means, and how it changed the status.

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
  server: z.string().describe('The nameserver of the parent zone.'),
  address: z.string().optional().describe('Which of its addresses; absent for `database`.'),
  transport: z
    .enum(['udp', 'tcp', 'database'])
    .describe('`database`: this service has the parent zone, and looked there.'),
  needed: z
    .array(z.enum(NEEDS))
    .optional()
    .describe(
      'How the query had to be changed before the server answered it: `tcp` (over TCP), `no_edns` (without EDNS), `lower_case` (instead of letters in random case). Absent if it answered the first query.',
    ),
  asked_at: Timestamp,
  rtt_ms: z.number().min(0).optional().describe('Absent without a reply.'),
  outcome: z
    .enum(SERVER_OUTCOMES)
    .describe('`referral` to `alias` decide something, the others are as good as no reply.'),
  rcode: z.int().min(0).optional().describe('0 is NOERROR, 3 is NXDOMAIN.'),
  aa: z.boolean().optional().describe('It answered with authority.'),
  ns: Names.optional().describe('The delegation that it gave.'),
  glue: z
    .array(z.object({ name: z.string(), address: z.string() }))
    .optional()
    .describe('The addresses that it gave beside it.'),
  ttl: z.int().min(0).optional().describe('Of that, or of the negative answer, in seconds.'),
  ds: Names.optional().describe('The DS records beside it, as in a zone file.'),
  shows_cut: z
    .boolean()
    .optional()
    .describe(
      'With `answer`, where no server refers: whether the server, asked for DS, shows that the parent delegates the domain.',
    ),
  proof: z
    .enum(['secure', 'insecure'])
    .optional()
    .describe(
      'What the keys of a secure parent say of the DS records or of what is not there; never of the NS records, which have no signatures. `insecure`: they leave it open. Absent where nothing was validated.',
    ),
  error: z.string().optional().describe('What was wrong.'),
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
            'Where it can be changed: `registrar`, or `zone`, by whoever runs the nameservers. `operator` is about our own servers, and only admins see it.',
          ),
        message: z.string().describe('What it is and what to change.'),
        names: Names.optional().describe('The nameservers that it is about.'),
      }),
    ),
    servers: z.array(
      z.object({
        name: z.string(),
        at_parent: z.boolean().describe('The parent names it.'),
        in_zone: z.boolean().describe('The zone names it.'),
        glue: Names.describe('The addresses that the parent gives.'),
        addresses: Names.describe('The addresses that its own zone gives.'),
      }),
    ),
    addresses: z
      .array(
        z.object({
          address: z.string(),
          servers: Names,
          soa: z.string().describe('`answer`, or what came instead; `unasked` where nothing was asked.'),
          ns: z.string(),
          tcp: z.string(),
          edns: z.enum(['works', 'refused', 'silent', 'unknown']),
          serial: z.int().min(0).optional(),
        }),
      )
      .describe('What each address answered.'),
    complete: z.boolean().describe('Everything was asked; no limit came first.'),
    queries: z.int().min(0).describe('Packets that were sent.'),
  })
  .meta({ id: 'ChildCheck' });

export const Check = z
  .object({
    id: Id,
    domain_id: Id,
    kind: z.enum(CHECK_KINDS).describe('Who wanted it: the service, a caller of `ns-check`, the operator.'),
    started_at: Timestamp,
    finished_at: Timestamp,
    last_seen_at: Timestamp.describe('When the same was seen last: the end of the newest repetition.'),
    repeated: z.int().min(0).describe('How often the service has seen the same again since.'),
    verdict: z
      .enum(VERDICTS)
      .describe(
        '`match`: delegated to exactly one accepted set. `partial`: to some names of one. `extra`: to a whole one and other names. `mixed`: to names of several. `foreign`: to none of our names. `not_delegated`: the name is there and has no delegation. `unregistered`: there is no such name. `alias`: it is a CNAME or below a DNAME. `unknown`: nothing that could be relied on was learnt, which never changes a status.',
      ),
    findings: z.array(
      z.object({
        code: z.string(),
        message: z.string().describe('What it is and what to change.'),
        names: Names.optional().describe('The nameservers that it is about.'),
      }),
    ),
    status_before: z.enum(DOMAIN_STATUSES),
    status_after: z.enum(DOMAIN_STATUSES),
    current_ns: Names.optional().describe(
      'The delegation that the parent shows; empty where it shows that there is none; absent when nothing was learnt.',
    ),
    matched_set: Names.optional().describe('With `match`: the accepted set.'),
    parent: z.string().optional().describe('The zone that has the delegation. Absent when it was not found.'),
    security: z
      .enum(['secure', 'insecure', 'indeterminate'])
      .optional()
      .describe(
        'Whether DNSSEC signatures lead from the root to the parent zone: `insecure` if a zone on the way proves that they end there, `indeterminate` if nothing was or could be validated. With the evidence only.',
      ),
    queries: z.int().min(0).describe('Packets that were sent.'),
    next_check_at: Timestamp.optional(),
    walk: z
      .array(
        z.object({
          zone: z.string(),
          servers: Names.describe('Its nameservers; empty for a zone that this service has.'),
          cached: z.boolean().describe('It was known already.'),
        }),
      )
      .optional()
      .describe('The way from the root to the parent zone, both included. With the evidence only.'),
    failure: z
      .object({ zone: z.string(), message: z.string() })
      .optional()
      .describe('Why the parent was not found, or not asked, and at which zone. With the evidence only.'),
    evidence: z
      .array(ServerEvidence)
      .optional()
      .describe('What each address of the parent said. In lists with `evidence=true` only.'),
    vantages: z
      .array(
        z.object({
          network: z.string().describe('Where the observers stand that count as this one.'),
          word: z
            .enum(['agrees', 'differs', 'silent'])
            .describe('Whether they saw what changed the status, or would have.'),
          saw: z.enum(SEEN_KINDS).describe('`split`: those of this network did not see the same.'),
          ns: Names.optional().describe('With `delegated`: the delegation that they saw.'),
        }),
      )
      .optional()
      .describe(
        'What observers elsewhere saw. They are asked when a check would change the status, and it changes only if they agree.',
      ),
    child: ChildCheck.optional().describe(
      "The newest look at the domain's own nameservers, which has a time of its own. Advice: no status depends on it. Not in lists.",
    ),
  })
  .meta({ id: 'Check' });

/** What anybody may see of a delegation. */
export const PublicCheck = z
  .object({
    name: z.string().describe('As A-labels, in lower case, without the final dot.'),
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
      .describe('The newest look. Absent where there was none lately.'),
  })
  .meta({ id: 'PublicCheck' });
