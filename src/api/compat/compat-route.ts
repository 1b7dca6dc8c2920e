// Declares routes of compatibility surfaces. Their callers present an API key, also as the password of
// `Authorization: Basic`; cookies are ignored, because such clients are not browsers. All other guards are those of the API.

import { z } from 'zod';
import type { CompatAnswer, CompatSurface } from '../answers/compat-answer.ts';
import type { Problem } from '../answers/problem.ts';
import type { CallOf } from '../calls/call.ts';
import { account, type domain, type Route, route } from '../calls/route.ts';

interface CompatDeclaration<K extends 'account' | 'domain', Q extends z.ZodObject, B extends z.ZodType>
  extends Pick<
    Route,
    'audit' | 'writes' | 'largeBody' | 'maxItems' | 'bodyBytes' | 'isHeavy' | 'waits' | 'params'
  > {
  readonly method: Route['method'];
  readonly path: string;
  readonly operationId: string;
  /** Must accept unknown members. */
  readonly query?: Q;
  /** Must accept unknown members. The body is read as JSON with any Content-Type. */
  readonly body?: B;
  readonly run: (
    call: CallOf<K, Readonly<Record<string, string>>, z.output<Q>, z.output<B>>,
  ) => Promise<CompatAnswer | Problem> | CompatAnswer | Problem;
}

type CompatAccess = ReturnType<typeof account | typeof domain>;

/** Accepts keys that are restricted to domains, names or types: the handler checks each record. */
export const anyKey = account({ narrowedKeys: true });

export function compatRoute<
  K extends CompatAccess['kind'],
  Q extends z.ZodObject = z.ZodObject<Record<never, never>, z.core.$loose>,
  B extends z.ZodType = z.ZodUnknown,
>(
  surface: CompatSurface,
  access: CompatAccess & { readonly kind: K },
  { query, body, run, ...declared }: CompatDeclaration<K, Q, B>,
): Route {
  return {
    ...route(access as never, {
      ...declared,
      tag: surface.name,
      summary: declared.operationId,
      query: query ?? z.looseObject({}),
      body: body ?? z.unknown(),
      response: z.unknown(),
      idempotent: false,
      run: run as never,
    }),
    compat: surface,
  };
}
