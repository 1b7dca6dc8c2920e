// Schemas of recommendations.

import { z } from 'zod';
import { RECOMMENDATION_CODES } from './rules.ts';

export const RecommendationCode = z.enum(RECOMMENDATION_CODES);

export const Recommendations = z
  .array(
    z.object({
      code: RecommendationCode,
      severity: z.enum(['info', 'warning', 'error']),
      message: z.string(),
      fix: z.string().describe('How to fix the problem.'),
    }),
  )
  .meta({ id: 'Recommendations' });
