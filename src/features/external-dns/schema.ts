// Bodies of requests of external-dns, which writes an empty list as null.

import { z } from 'zod';
import { boundedArray } from '../../api/schemas/fields.ts';

/** Maximum number of endpoints in one request. */
export const MAX_ENDPOINTS = 20_000;
const MAX_NAME_CHARACTERS = 1100;
const MAX_TARGETS = 1000;

const Property = z.looseObject({ name: z.string(), value: z.string().nullish() });

/** A record set, as external-dns describes it. */
const Endpoint = z.looseObject({
  dnsName: z.string().max(MAX_NAME_CHARACTERS),
  recordType: z.string(),
  targets: boundedArray(z.string()).max(MAX_TARGETS).nullish(),
  setIdentifier: z.string().nullish(),
  recordTTL: z.int().nullish(),
  providerSpecific: boundedArray(Property).nullish(),
  labels: z.record(z.string(), z.string()).nullish(),
});
export type Endpoint = z.output<typeof Endpoint>;

const TOO_MANY = `expected at most ${MAX_ENDPOINTS} endpoints in total`;

export const Endpoints = boundedArray(Endpoint)
  .max(MAX_ENDPOINTS, TOO_MANY)
  .nullable()
  .transform((list) => list ?? []);

const List = boundedArray(Endpoint).nullish();

/** Older releases call the lists `Create`, `UpdateOld`, `UpdateNew` and `Delete`. */
export const Changes = z
  .looseObject({
    create: List,
    updateOld: List,
    updateNew: List,
    delete: List,
    Create: List,
    UpdateOld: List,
    UpdateNew: List,
    Delete: List,
  })
  .transform((body) => ({
    create: body.create ?? body.Create ?? [],
    updateOld: body.updateOld ?? body.UpdateOld ?? [],
    updateNew: body.updateNew ?? body.UpdateNew ?? [],
    delete: body.delete ?? body.Delete ?? [],
  }))
  .refine((lists) => Object.values(lists).flat().length <= MAX_ENDPOINTS, TOO_MANY);
export type Changes = z.output<typeof Changes>;
