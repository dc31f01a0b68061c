import type { IncomingHttpHeaders } from 'node:http';
import { Password } from '../../../src/index.ts';
import type { CredentialForms } from '../route.ts';
import { TEXTS } from '../texts.ts';

/** Cookie in which clients of InfluxDB 2 send the session of `/api/v2/signin`. */
export const SESSION_COOKIE = 'influxdb-oss-session';
const SESSION = new RegExp(`(?:^|;\\s{0,10})${SESSION_COOKIE}=([0-9a-f]{32})(?:;|$)`);

export type Presented =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'password'; readonly user: string; readonly password: Password }
  | { readonly kind: 'none'; readonly reason: string };

/**
 * Reads the credentials of a request (docs/database-api.md). In `Authorization: Basic`, 32 hexadecimal digits are a
 * token; any other value is base64 of `user:password`, split at the first colon. If `forms` is `any`, the schemes
 * `Token` and `Bearer`, and without the header the session cookie and the query parameters `u` and `p`, are accepted,
 * too.
 */
export function readCredentials(
  headers: IncomingHttpHeaders,
  query: URLSearchParams,
  forms: CredentialForms,
): Presented {
  const header = headers.authorization;
  if (header === undefined || header === '') {
    const user = query.get('u');
    const session = forms === 'any' && user === null ? SESSION.exec(headers.cookie ?? '')?.[1] : undefined;
    if (session !== undefined) return { kind: 'token', token: session };
    return forms === 'any' && user !== null ? password(user, query.get('p') ?? '') : none(TEXTS.malformedCredentials);
  }
  const { scheme, value } = schemeAndValue(header);
  if (scheme === '' || value === '') return none(TEXTS.malformedCredentials);
  switch (scheme.toLowerCase()) {
    case 'basic':
      return readBasic(value);
    case 'token':
    case 'bearer':
      return forms === 'any' ? readToken(value) : none(TEXTS.notBasic);
    default:
      return none(TEXTS.notBasic);
  }
}

/** Splits a header at the first blank and trims the value. Blanks are skipped in a loop, because a header may contain thousands. */
function schemeAndValue(header: string): { scheme: string; value: string } {
  const split = header.indexOf(' ');
  if (split < 0) return { scheme: '', value: '' };
  let start = split;
  while (header.charAt(start) === ' ') start++;
  let end = header.length;
  while (end > start && header.charAt(end - 1) === ' ') end--;
  return { scheme: header.slice(0, split), value: header.slice(start, end) };
}

const TOKEN = /^[0-9a-f]{32}$/;

function readBasic(value: string): Presented {
  if (TOKEN.test(value)) return { kind: 'token', token: value };
  // The original database (docs/database-api.md) requires padded base64 in the standard alphabet; here the padding is
  // optional.
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(value)) return none(TEXTS.malformedCredentials);
  return readPair(Buffer.from(value, 'base64').toString());
}

/** Clients of InfluxDB 2 and 3 send `user:password` or their configured token after `Token` or `Bearer`. */
function readToken(value: string): Presented {
  return TOKEN.test(value) ? { kind: 'token', token: value } : readPair(value);
}

function readPair(pair: string): Presented {
  const colon = pair.indexOf(':');
  return colon < 1 ? none(TEXTS.malformedCredentials) : password(pair.slice(0, colon), pair.slice(colon + 1));
}

function password(user: string, text: string): Presented {
  // PostgreSQL's protocol terminates the user and the password with a NUL, so they cannot contain one.
  if (user === '' || user.includes('\0') || text.includes('\0')) return none(TEXTS.malformedCredentials);
  return { kind: 'password', user, password: new Password(text) };
}

function none(reason: string): Presented {
  return { kind: 'none', reason };
}
