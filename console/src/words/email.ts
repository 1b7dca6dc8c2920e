// The texts of the email setup, which are loaded with its page.

export { email } from './en/email.ts';
