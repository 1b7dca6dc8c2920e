// Schemas of the grants of a domain.

import { z } from 'zod';
import { boundedArray, Id } from '../../api/schemas/fields.ts';
import { RecordCreate, RecordType } from '../../api/schemas/records/record.ts';
import { MOST_GRANT_TYPES, MOST_GRANTS } from '../../store/updates/grants.ts';
import { GRANT_MATCHES } from '../../zone/update/update-grant.ts';

const matchMeaning = '`exact`: the name. `subtree`: the name and all names below it.';
const typesMeaning = 'The record types that the key may change; null for all.';
const originMeaning =
  'If true, the key reads and writes the origins of proxied names, which stay proxied. If false, it cannot change them.';

const NewUpdateGrant = z
  .strictObject({
    tsig_key: Id.describe("Id of a key that the domain's owner created."),
    name: RecordCreate.shape.name,
    match: z.enum(GRANT_MATCHES).default('exact').describe(matchMeaning),
    types: boundedArray(RecordCreate.shape.type)
      .min(1)
      .max(MOST_GRANT_TYPES)
      .nullable()
      .default(null)
      .describe(typesMeaning),
    edits_origin: z.boolean().default(false).describe(originMeaning),
  })
  .meta({ id: 'NewUpdateGrant' });

export const NewUpdateGrants = z
  .strictObject({ grants: boundedArray(NewUpdateGrant).max(MOST_GRANTS) })
  .meta({ id: 'NewUpdateGrants' });

const UpdateGrant = z
  .object({
    id: Id,
    tsig_key: Id,
    name: z.string().describe('Relative to the domain, or `@`.'),
    match: z.enum(GRANT_MATCHES).describe(matchMeaning),
    types: z.array(RecordType).nullable().describe(typesMeaning),
    edits_origin: z.boolean().describe(originMeaning),
  })
  .meta({ id: 'UpdateGrant' });

export const UpdateGrants = z.object({ grants: z.array(UpdateGrant) }).meta({ id: 'UpdateGrants' });
