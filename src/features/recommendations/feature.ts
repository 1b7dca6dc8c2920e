// Recommendations: changes that would improve a domain (docs/api.md "Recommendations").

import { grants } from '../../store/roles/role-privileges.ts';
import type { Feature } from '../feature.ts';

export const recommendations: Feature = {
  name: 'recommendations',
  schema: ['tables.sql'],
  privileges: { tables: { dismissed_recommendations: grants('', 'siu', '') } }, // deleted with their domain
  routes: async () => (await import('./routes.ts')).RECOMMENDATION_ROUTES,
};
