// Scans in responses: what was found, what an import would make of it, and the result of an import.

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
    ttl: count.describe('As an import sets it.'),
    skipped: z
      .boolean()
      .describe('The domain has records of this name and type, so that an import leaves it alone.'),
    cdn: z
      .string()
      .optional()
      .describe('The network that it leads to, as far as that is known to be shared.'),
    note: z.string().optional().describe('What to look at before it is relied on.'),
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
    .describe('Everything that was to be asked was answered. False, too, while the scan goes on.'),
  shortfalls: z.array(z.string()).describe('Why it is not complete.'),
  started_at: Timestamp.optional(),
  finished_at: Timestamp.optional().describe('Absent while the scan goes on.'),
  progress: z
    .object({
      names: count.describe('Names that were asked for.'),
      of: count.describe('Names that are to be asked for, as far as is known.'),
      records: count.describe('Found so far.'),
      queries: count,
    })
    .optional()
    .describe('While the scan goes on.'),
  names: count.describe('Names that were asked for.'),
  queries: count.describe('Packets that were sent.'),
  left_out: z.array(LeftOut).describe('What is there and cannot be imported.'),
};

export const ScanPreview = z
  .object({
    ...scan,
    records: z.array(ScannedRecord),
    wildcards: z
      .array(Name)
      .describe('Names with a wildcard below them. What it answers for is no record of its own.'),
    imported: z
      .object({ created: count, skipped: count, failed: z.array(Failed), error: z.string().optional() })
      .optional()
      .describe('What came of its import, where it had one: that of a new domain, say.'),
  })
  .meta({ id: 'ScanPreview' });

export const ScanImported = z
  .object({
    created: count.describe('Records that were added; of a dry run, that would be.'),
    failed: z.array(Failed).describe('Records that conflict with what is there.'),
    skipped: count.describe('Records that were found at names and types that have records already.'),
    records: z.array(Record).describe("All of the domain's records, as they are now."),
    change_id: Id.optional().describe('Absent when nothing was added.'),
    ...scan,
  })
  .meta({ id: 'ScanImported' });
