// A change of a domain: who made it, when, what it changed, and how many nameservers have loaded it.

import { z } from 'zod';
import type { RuleType } from '../../edge/edge-rule.ts';
import { RULE_TYPES } from '../../edge/rules/every-type.ts';
import { DOMAIN_STATUSES } from '../../zone/domain/domain-status.ts';
import { Id, Timestamp } from './fields.ts';
import { ChangedRecord } from './records/record.ts';

export const CHANGE_SOURCES = [
  'api',
  'import',
  'scan',
  'aname',
  'acme',
  'cli',
  'update',
  'pdns',
  'revert',
  'status',
] as const;
export const ACTOR_KINDS = ['key', 'session', 'token', 'tsig', 'cli', 'system'] as const;

/** The text of an error page is replaced by its size. */
const ChangedRule = z.looseObject({ id: Id, type: z.enum(RULE_TYPES as [RuleType, ...RuleType[]]) });

const status = z.enum(DOMAIN_STATUSES).optional();

export const Change = z
  .object({
    id: Id,
    domain_id: Id,
    serial: z.int().min(0).describe('Serial of the SOA from this change on.'),
    at: Timestamp,
    actor: z.object({
      kind: z.enum(ACTOR_KINDS),
      user_id: Id.optional(),
      key_id: Id.optional().describe('Only with the permission `members.manage`.'),
      address: z.string().optional().describe('Only with the permission `members.manage`.'),
    }),
    source: z.enum(CHANGE_SOURCES),
    records: z.array(
      z.object({
        op: z.enum(['create', 'update', 'delete']),
        before: ChangedRecord.optional(),
        after: ChangedRecord.optional(),
      }),
    ),
    rules: z
      .array(
        z.object({
          op: z.enum(['create', 'update', 'delete']),
          before: ChangedRule.optional(),
          after: ChangedRule.optional(),
        }),
      )
      .optional()
      .describe('Changes of rules. An updated rule lists only the fields that differ.'),
    status: z
      .object({ from: status, to: status, check_id: Id.optional() })
      .optional()
      .describe(
        'A status change of the domain. `from` is absent if the domain is new or came from another account. `to` is absent if it was deleted or passed to another account.',
      ),
    reverts: Id.optional().describe('The change that this one reverts.'),
    in_sync: z
      .boolean()
      .describe('True if every nameserver that is expected to answer has loaded the change.'),
    nodes: z.object({
      seen: z.int().min(0).describe('Nameservers that have loaded the change.'),
      live: z.int().min(0).describe('Nameservers that are expected to load it.'),
    }),
  })
  .meta({ id: 'Change' });
