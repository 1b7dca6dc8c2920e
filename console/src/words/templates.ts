// The texts of the zone templates, which are loaded with their page.

export { templates } from './en/templates.ts';
