// Scans in responses: the records that were found, what an import would do with them, and the result of an import.

import { z } from 'zod';
import { MAX_MX_PRIORITY } from '../../../zone/records/customer-types.ts';
import { Id, Timestamp } from '../fields.ts';
import { Record, RecordType } from './record.ts';

const count = z.int().min(0);
const Name = z.string().describe('Relative to the domain; `@` is the domain itself.');

const ScannedRecord = z
  .object({
    name: Name,
    type: RecordType,
    destination: z.string(),
    mx_priority: z.int().min(0).max(MAX_MX_PRIORITY).optional(),
    ttl: count.describe('The TTL that an import would set.'),
    skipped: z
      .boolean()
      .describe(
        'True if the domain already has records of this name and type, so that an import skips this one.',
      ),
    cdn: z
      .string()
      .optional()
      .describe('The network to which the record leads, if it is known to be shared.'),
    note: z.string().optional().describe('Something to check before you rely on the record.'),
  })
  .meta({ id: 'ScannedRecord' });

const LeftOut = z
  .object({ name: Name, type: z.string(), reason: z.string() })
  .meta({ id: 'ScannedRecordLeftOut' });

const Failed = z
  .object({ name: Name, type: z.string(), error: z.string() })
  .meta({ id: 'ScannedRecordFailed' });

const scan = {
  complete: z
    .boolean()
    .describe(
      "True if every query was answered, and the zone's own servers answered at least one. False while the scan is running.",
    ),
  shortfalls: z.array(z.string()).describe('Why the scan is not complete.'),
  started_at: Timestamp.optional(),
  finished_at: Timestamp.optional().describe('Absent while the scan is running.'),
  progress: z
    .object({
      names: count.describe('Names queried so far.'),
      of: count.describe('Names to query, as far as they are known.'),
      records: count.describe('Records found so far.'),
      queries: count,
    })
    .optional()
    .describe('Only while the scan is running.'),
  names: count.describe('Number of names queried.'),
  queries: count.describe('Number of packets sent.'),
  left_out: z.array(LeftOut).describe('Records that exist but cannot be imported.'),
};

export const ScanPreview = z
  .object({
    ...scan,
    records: z.array(ScannedRecord),
    wildcards: z
      .array(Name)
      .describe(
        'Names with a wildcard below them. Names that exist only through the wildcard are not records.',
      ),
    imported: z
      .object({ created: count, skipped: count, failed: z.array(Failed), error: z.string().optional() })
      .optional()
      .describe('Result of the import of this scan, if there was one, such as for a new domain.'),
  })
  .meta({ id: 'ScanPreview' });

export const ScanImported = z
  .object({
    created: count.describe('Records that were added, or would be added for a dry run.'),
    failed: z.array(Failed).describe('Records that conflict with existing ones.'),
    skipped: count.describe('Records that were found, but whose name and type already have records.'),
    records: z.array(Record).describe('All records that the domain has now.'),
    change_id: Id.optional().describe('Absent if nothing was added.'),
    ...scan,
  })
  .meta({ id: 'ScanImported' });
