// Allows bots, blocks them, or sends them to a separate origin.

import { z } from 'zod';
import { HOST_OR_ADDRESS, isHostOrAddress } from './origin-fields.ts';
import { ruleKind } from './rule-kind.ts';
import { distinct, line } from './text-fields.ts';

export const botRoute = ruleKind({
  type: 'bot_route',
  what: 'Allows bots, blocks them, or sends them to a separate origin.',
  fields: {
    bots: z
      .enum(['verified', 'unverified', 'list'])
      .default('unverified')
      .describe('Verified bots, unverified bots, or those in `list`.'),
    list: distinct(line(256, 1), 64)
      .default([])
      .describe('Parts of User-Agent, compared case-insensitively. Required with `bots: list`.'),
    action: z.enum(['allow', 'block', 'captcha', 'route']).default('block'),
    destination: line(255)
      .refine((text) => text === '' || isHostOrAddress(text), HOST_OR_ADDRESS)
      .default('')
      .describe('The origin for `action: route`.'),
  },
  judge({ bots, list, action, destination }, add) {
    if (bots === 'list' && list.length === 0) add(['list'], 'is required with bots list');
    if (action === 'route' && destination === '') add(['destination'], 'is required with action route');
  },
  gate: 'rules',
  countsDryRun: true,
  origins: ({ destination }) => (destination === '' ? [] : [{ path: ['destination'], host: destination }]),
  toEdge: ({ bots, list, action, destination }) => ({
    type: 'bot_route',
    bots,
    list,
    action,
    ...(action === 'route' && { destination }),
  }),
});
