import type { Validator } from './option.ts';
import { distinctList } from './validators.ts';

/** Validators of the REST server's options, with the messages of Connect's RestServerConfig. */

const EXAMPLE = 'ex: http://localhost:8080,https://localhost:8443.';
const ACTIONS = ['set', 'add', 'setDate', 'addDate'];

/** Listener URLs. Scheme, host and port are checked by `parseListener`. */
export const listenerUrls: Validator = {
  text: `List of comma-separated URLs, ${EXAMPLE}`,
  check(_name, value) {
    if (!Array.isArray(value)) {
      return { message: `Invalid value type for listeners (expected list of URLs , ${EXAMPLE}).` };
    }
    if (value.length === 0) {
      return { message: `Invalid value for listeners, at least one URL is expected, ${EXAMPLE}` };
    }
    if (value.includes('')) return { message: 'Empty URL found when parsing listeners list.' };
    return listenerError(value.map(String));
  },
};

/** Listener URLs that may be absent or empty. */
export const optionalListenerUrls: Validator = (() => {
  const distinct = distinctList({ nullAllowed: true });
  return {
    text: distinct.text,
    distinct: true,
    check: (name, value) =>
      distinct.check(name, value) ?? (Array.isArray(value) ? listenerError(value.map(String)) : undefined),
  };
})();

export interface Listener {
  readonly protocol: 'http' | 'https';
  /** Empty for all addresses. */
  readonly host: string;
  readonly port: number;
}

/** Parses `http://host:port`; the host may be empty or an IPv6 address in brackets. Returns `undefined` for other forms. */
export function parseListener(url: string): Listener | undefined {
  const parts = /^(https?):\/\/(\[[0-9a-f:.]+\]|[^:/[\]]*):(\d{1,5})\/?$/i.exec(url);
  if (parts === null) return undefined;
  const [, protocol = '', host = '', port = ''] = parts;
  if (Number(port) > 65535) return undefined;
  return {
    protocol: protocol.toLowerCase() === 'https' ? 'https' : 'http',
    host: host.replace(/^\[|\]$/g, ''),
    port: Number(port),
  };
}

function listenerError(urls: readonly string[]): { message: string } | undefined {
  for (const url of urls) {
    if (!/^https?:\/\//i.test(url)) {
      return { message: `Listener URL ${url} must begin with http:// or https://, ${EXAMPLE}` };
    }
    if (parseListener(url) === undefined) {
      return { message: `Listener URL ${url} must be of the form protocol://host:port, ${EXAMPLE}` };
    }
  }
  const repeated = urls.find((url, index) => urls.indexOf(url) !== index);
  return repeated === undefined ? undefined : { message: `Listener URL ${repeated} is given twice.` };
}

/** Rules for response headers: `[action] [header name]:[header value]`. */
export const headerRules: Validator = {
  text:
    "Comma-separated header rules, where each header rule is of the form '[action] [header name]:[header value]' and " +
    'optionally surrounded by double quotes if any part of a header rule contains a comma',
  check(_name, value) {
    if (typeof value !== 'string' || value.trim() === '') return undefined;
    for (const rule of splitRules(value)) {
      const message = ruleError(rule);
      if (message !== undefined) return { message };
    }
    return undefined;
  },
};

export interface HeaderRule {
  readonly action: 'set' | 'add' | 'setDate' | 'addDate';
  readonly name: string;
  readonly value: string;
}

/** Parses the rules of `response.http.headers.config`, which must be valid. */
export function parseHeaderRules(text: string): HeaderRule[] {
  if (text.trim() === '') return [];
  return splitRules(text).map((rule) => {
    const split = rule.search(/\s/);
    const colon = rule.indexOf(':', split);
    const [name, value] = [rule.slice(split, colon).trim(), rule.slice(colon + 1).trim()];
    return { action: rule.slice(0, split) as HeaderRule['action'], name, value };
  });
}

/** Splits at commas outside of double quotes, and removes the quotes. */
function splitRules(text: string): string[] {
  const rules: string[] = [];
  for (let at = 0; at <= text.length;) {
    const quoted = quotedRule(text, at);
    const comma = text.indexOf(',', at);
    const end = quoted?.end ?? (comma < 0 ? text.length : comma);
    rules.push((quoted?.rule ?? text.slice(at, end)).trim());
    at = end + 1;
  }
  return rules.filter((rule) => rule !== '');
}

/**
 * The rule in double quotes that begins at `from`, and the index of the comma or end of the text behind it. `undefined` if the
 * text at `from` is not a quoted rule.
 */
function quotedRule(text: string, from: number): { rule: string; end: number } | undefined {
  const open = afterBlanks(text, from);
  if (text.charAt(open) !== '"') return undefined;
  const close = text.indexOf('"', open + 1);
  if (close < 0) return undefined;
  const end = afterBlanks(text, close + 1);
  return end === text.length || text.charAt(end) === ',' ? { rule: text.slice(open + 1, close), end } : undefined;
}

function afterBlanks(text: string, from: number): number {
  let at = from;
  while (/\s/.test(text.charAt(at))) at++;
  return at;
}

function ruleError(rule: string): string | undefined {
  const split = rule.search(/\s/);
  if (split < 0) {
    return `Invalid format of header config '${rule}'. Expected: '[action] [header name]:[header value]'`;
  }
  const action = rule.slice(0, split);
  if (!ACTIONS.includes(action)) {
    return `Invalid header config action: '${action}'. Expected one of [${ACTIONS.join(', ')}]`;
  }
  const pair = rule.slice(split).trim();
  const colon = pair.indexOf(':');
  if (colon < 0 || pair.slice(colon + 1) === '') {
    return `Invalid format of header name and header value pair '${pair}'. Expected: '[header name]:[header value]'`;
  }
  const name = pair.slice(0, colon).trim();
  if (name === '' || /\s/.test(name)) {
    return `Invalid header name '${name}'. The '[header name]' cannot ${name === '' ? 'be empty' : 'contain whitespace'}`;
  }
  return undefined;
}
