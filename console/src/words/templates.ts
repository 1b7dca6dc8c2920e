// The texts of the zone templates, which are loaded with their page.

import { templates as english } from './en/templates.ts';
import { persian } from './persian.ts';

export const templates: typeof english = persian?.templates ?? english;
