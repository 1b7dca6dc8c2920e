// What the stream of a domain's events tells, by the name of the event.

import { z } from 'zod';
import { DOMAIN_STATUSES } from '../../../zone/domain/domain-status.ts';
import { CHANGE_SOURCES, Change } from '../change.ts';
import { Id } from '../ids.ts';
import { Timestamp } from '../timestamp.ts';

export const ChangeEvent = z.object({
  id: Id,
  serial: z.int().min(0),
  at: Timestamp,
  actor: Change.shape.actor,
  source: z.enum(CHANGE_SOURCES),
  records: z.object({
    created: z.int().min(0),
    updated: z.int().min(0),
    deleted: z.int().min(0),
  }),
  rules: z.int().min(0),
  reverts: Id.optional(),
});

export const StatusEvent = z.object({
  from: z.enum(DOMAIN_STATUSES).optional(),
  to: z.enum(DOMAIN_STATUSES).optional(),
  at: Timestamp,
  change_id: Id,
  check_id: Id.optional(),
});

export const VerificationEvent = z.object({
  finished_at: Timestamp,
  verdict: z.string(),
  found: z.int().min(0),
  asked: z.int().min(0),
  message: z.string(),
});

export const NodesEvent = z.object({
  change_id: Id,
  in_sync: z.boolean(),
  seen: z.int().min(0),
  live: z.int().min(0),
  ms: z.int().min(0).optional(),
});
