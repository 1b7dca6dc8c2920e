// English texts of tickets.

export const tickets = {
  managed: 'Your provider answers your questions.',
  new: 'New ticket',
  none: 'You have no tickets yet',
  noMatch: 'No ticket matches',
  noneText:
    'The operator of this service answers your tickets here. You get an email when there is an answer.',
  subject: 'Subject',
  message: 'Message',
  messageHint: 'Include the domain and what you expected. Never send passwords or keys.',
  send: 'Send',
  answer: 'Answer',
  earlier: 'Show earlier messages',
  last: 'Last change',
  close: 'Close the ticket',
  reopen: 'Reopen',
  statuses: { open: 'waiting for the operator', answered: 'answered', closed: 'closed' },
  authors: { account: 'You', staff: 'The operator' },
};
