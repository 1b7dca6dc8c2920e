// Headers of every HTTP response. They forbid caching and content sniffing.

export const ANSWER_HEADERS: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store', // RFC 9111 §5.2.2.5
  'X-Content-Type-Options': 'nosniff',
};
