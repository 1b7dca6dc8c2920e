// The type of a record, in answers and in requests.

import { z } from 'zod';
import { API_TYPES, type ApiType, GENERIC_TYPE, readApiType } from '../../../zone/records/customer-types.ts';

/** The JSON schema. It has no `type`, so that generated clients read each alternative as a type. */
export const RECORD_TYPE_META = {
  type: undefined,
  anyOf: [
    { type: 'string', enum: [...API_TYPES] },
    {
      type: 'string',
      pattern: GENERIC_TYPE.source,
      description: 'A type without a mnemonic, whose destination is `\\# length hex` (RFC 3597 §5).',
    },
  ],
} as const;

export const RecordType = z.string().meta({ ...RECORD_TYPE_META });

export const RecordTypeText = z
  .string()
  .transform((text, context): ApiType => {
    const read = readApiType(text);
    if (read.kind === 'type') return read.type;
    context.addIssue(read.message);
    return z.NEVER;
  })
  .meta({ ...RECORD_TYPE_META, description: 'In any case.' });
