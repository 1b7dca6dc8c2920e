// What the owner of a domain would do well to change.

import { z } from 'zod';
import { RECOMMENDATION_CODES } from '../../../checks/recommendations/recommend.ts';

export const RecommendationCode = z.enum(RECOMMENDATION_CODES);

export const Recommendations = z
  .array(
    z.object({
      code: RecommendationCode,
      severity: z.enum(['info', 'warning', 'error']),
      message: z.string(),
      fix: z.string().describe('What to do.'),
    }),
  )
  .meta({ id: 'Recommendations' });
