import assert from 'node:assert/strict';
import { readCredentials } from '../../../plugins/database-http/access/credentials.ts';
import { TrustedProxies } from '../../../plugins/database-http/access/client-address.ts';
import { addressGroup } from '../../../src/config/client-address.ts';
import { LoginThrottle } from '../../../plugins/database-http/access/login-throttle.ts';
import { SessionStore } from '../../../plugins/database-http/access/session-store.ts';
import { identityOf } from '../../../plugins/database-http/access/identity.ts';
import { Password } from '../../../src/index.ts';

const TOKEN = '0123456789abcdef0123456789abcdef';
const none = new URLSearchParams();

function read(authorization: string | undefined, forms: 'basic' | 'any' = 'basic', query = none): string {
  const presented = readCredentials(authorization === undefined ? {} : { authorization }, query, forms);
  switch (presented.kind) {
    case 'token':
      return `token ${presented.token}`;
    case 'password':
      return `${presented.user} / ${presented.password.reveal()}`;
    case 'none':
      return presented.reason;
  }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('credentials', () => {
  it('are a token when they have 32 hex digits, else base64 of user and password', () => {
    assert.equal(read(`Basic ${TOKEN}`), `token ${TOKEN}`);
    assert.equal(read(`Basic ${base64('ann:secret')}`), 'ann / secret');
    assert.equal(read(`basic ${base64('ann:a:b')}`), 'ann / a:b');
    assert.equal(read(`Basic ${base64('ann:')}`), 'ann / ');
    assert.equal(read(`Basic ${base64('änn:pässwört€')}`), 'änn / pässwört€');
  });

  it('that are short and happen to be hex digits are still a password', () => {
    // The original reads base64 of "i\xb7\x1d:" and the like as a token.
    assert.equal(read(`Basic ${base64('i:i')}`), 'i / i');
  });

  it('of other systems are accepted only by routes that declare them', () => {
    assert.equal(read('Token ann:secret', 'any'), 'ann / secret');
    assert.equal(read(`Token ${TOKEN}`, 'any'), `token ${TOKEN}`);
    assert.equal(read(`Bearer ${TOKEN}`, 'any'), `token ${TOKEN}`);
    assert.equal(read(undefined, 'any', new URLSearchParams('u=ann&p=s%3A1')), 'ann / s:1');
    assert.equal(read('Token ann:secret'), 'can not find Basic attribute, please check');
    assert.equal(
      read(undefined, 'basic', new URLSearchParams('u=ann&p=x')),
      'wrong username or password, please check',
    );
  });

  it('are refused when malformed', () => {
    for (const header of [
      '',
      'Basic',
      'Basic ',
      'Basic ???',
      `Basic ${base64('nobody')}`,
      `Basic ${base64(':x')}`,
      `Basic ${base64('a\0:x')}`,
    ]) {
      assert.equal(read(header), 'wrong username or password, please check', header);
    }
  });
});

describe('guessing passwords', () => {
  const real = (user: string, address: string) => ({ user, address, isReal: true });
  const madeUp = (user: string, address: string) => ({ user, address, isReal: false });

  it('gets slower with each failure, in parallel too, and never refuses the user from elsewhere', () => {
    let now = 0;
    const throttle = new LoginThrottle(() => now);
    const waits: (number | undefined)[] = [];
    for (let index = 0; index < 9; index++) {
      waits.push(throttle.waitMs(real('ann', '10.0.0.1')));
      throttle.failed(real('ann', '10.0.0.1'));
    }
    assert.deepEqual(waits.slice(0, 3), [0, 0, 0]);
    assert.ok((waits[5] ?? 0) > (waits[4] ?? 0));
    // Without waiting in between the next attempts queue up until they are turned away.
    const crowd = Array.from({ length: 20 }, () => throttle.waitMs(real('ann', '10.0.0.1')));
    assert.equal(crowd.at(-1), undefined);
    assert.ok((throttle.waitMs(real('ann', '10.0.0.2')) ?? 9999) <= 1000);
    assert.equal(throttle.waitMs(real('bob', '10.0.0.2')), 0);
    now += 15 * 60_000;
    assert.equal(throttle.waitMs(real('ann', '10.0.0.1')), 0);
  });

  it('of many users from one address gets slower too', () => {
    const throttle = new LoginThrottle(() => 0);
    for (let index = 0; index < 15; index++) throttle.failed(real(`user${String(index)}`, '10.0.0.1'));
    assert.ok((throttle.waitMs(real('fresh', '10.0.0.1')) ?? 9999) > 0);
    assert.equal(throttle.waitMs(real('fresh', '10.0.0.2')), 0);
  });

  it('is forgiven after the right password', () => {
    const throttle = new LoginThrottle(() => 0);
    for (let index = 0; index < 5; index++) throttle.failed(real('ann', '10.0.0.1'));
    assert.notEqual(throttle.waitMs(real('ann', '10.0.0.1')), 0);
    throttle.succeeded(real('ann', '10.0.0.1'));
    assert.equal(throttle.waitMs(real('ann', '10.0.0.1')), 0);
  });

  it('S7: keeps no user waiting at an address that he has logged in from, regardless of guesses elsewhere', () => {
    const throttle = new LoginThrottle(() => 0);
    throttle.succeeded(real('ann', '10.0.0.1'));
    for (let index = 0; index < 200; index++) throttle.failed(real('ann', `10.0.1.${String(index % 24)}`));
    for (let index = 0; index < 200; index++) throttle.failed(real(`other${String(index)}`, '10.0.0.1'));
    assert.equal(throttle.waitMs(real('ann', '10.0.1.1')), 5_000);
    assert.equal(throttle.waitMs(real('ann', '10.0.1.1')), undefined);
    assert.equal(throttle.waitMs(real('ann', '10.0.0.1')), 0);
    // Wrong passwords of his own slow him down, and never turn him away.
    for (let index = 0; index < 50; index++) throttle.failed(real('ann', '10.0.0.1'));
    const waits = Array.from({ length: 20 }, () => throttle.waitMs(real('ann', '10.0.0.1')) ?? Infinity);
    assert.ok(
      waits.every((wait) => wait > 0 && wait <= 5_000),
      waits.join(' '),
    );
  });

  it('S7: of made-up names has a separate budget, and displaces no real user', () => {
    const throttle = new LoginThrottle(() => 0);
    for (let index = 0; index < 5; index++) throttle.failed(real('bob', '10.0.0.2'));
    const slow = throttle.waitMs(real('bob', '10.0.0.2'));
    for (let index = 0; index < 12_000; index++) throttle.failed(madeUp(`nobody${String(index)}`, '10.0.0.1'));
    assert.equal(throttle.waitMs(madeUp('nobody', '10.0.0.1')), 5_000);
    assert.equal(throttle.waitMs(real('ann', '10.0.0.1')), 0);
    assert.ok((throttle.waitMs(real('bob', '10.0.0.2')) ?? 0) >= (slow ?? 0) && (slow ?? 0) > 0);
  });
});

describe('the address of a client', () => {
  const request = (remoteAddress: string, forwarded?: string) =>
    ({
      socket: { remoteAddress },
      headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
    }) as unknown as Parameters<TrustedProxies['clientOf']>[0];

  it('S7: is the last one in X-Forwarded-For that no trusted proxy has, otherwise the peer address', () => {
    const proxies = new TrustedProxies(['10.0.0.0/8', '::1', '192.0.2.7']);
    const cases: readonly (readonly [peer: string, forwarded: string | undefined, client: string])[] = [
      ['203.0.113.9', '198.51.100.1', '203.0.113.9'],
      ['10.1.2.3', undefined, '10.1.2.3'],
      ['10.1.2.3', '198.51.100.1', '198.51.100.1'],
      ['::ffff:10.1.2.3', '1.1.1.1, 198.51.100.1, 192.0.2.7', '198.51.100.1'],
      ['::1', '198.51.100.1:4711', '198.51.100.1'],
      ['::1', '[2001:db8::1]:4711', '2001:db8::1'],
      ['::1', '198.51.100.1, made up', '::1'],
      ['10.1.2.3', '10.9.9.9', '10.9.9.9'],
      ['10.1.2.3', `${'x,'.repeat(5_000)}198.51.100.1`, '198.51.100.1'],
    ];
    for (const [peer, forwarded, client] of cases) {
      assert.equal(proxies.clientOf(request(peer, forwarded)), client, `${peer} ${String(forwarded)}`);
    }
    for (const entry of ['proxy.example', '10.0.0.0/33', '10.0.0.0/x', '1.2.3', '::/129', '10.0.0.0/8/8']) {
      assert.throws(() => new TrustedProxies([entry]), /neither an IP address nor a network/, entry);
    }
  });

  it('S7: counts by networks of 64 bits where it is IPv6', () => {
    assert.equal(addressGroup('198.51.100.1'), '198.51.100.1');
    assert.equal(addressGroup('2001:db8:0:1:ffff::2'), '2001:db8:0:1');
    assert.equal(addressGroup('2001:DB8::1'), '2001:db8:0:0');
    assert.equal(addressGroup('::1'), '0:0:0:0');
    assert.equal(addressGroup('fe80::1%eth0'), 'fe80:0:0:0');
  });
});

describe('sessions in memory', () => {
  const ann = identityOf('ann', new Password('secret'));

  it('keep neither the token nor the password in a form that prints', () => {
    const store = new SessionStore(Date.now, () => 60_000);
    const { token } = store.open(ann);
    const printed = JSON.stringify(store.list());
    assert.equal(printed.includes(token), false);
    assert.equal(printed.includes('secret'), false);
  });

  it('are at most a thousand for one user; the least recently used one is removed', () => {
    let now = 0;
    const store = new SessionStore(
      () => now,
      () => 1e9,
    );
    const tokens = Array.from({ length: 1000 }, () => {
      now += 1;
      return store.open(ann).token;
    });
    const first = store.find(tokens[0] ?? '');
    assert.ok(first);
    now += 1;
    store.refresh(first);
    store.open(ann);
    assert.equal(store.list().length, 1000);
    assert.ok(store.find(tokens[0] ?? ''));
    assert.equal(store.find(tokens[1] ?? ''), undefined);
  });

  it('are 10,000 different ones of 128 bits, every bit of which is set in about half of them', () => {
    const store = new SessionStore(
      () => 0,
      () => 1,
    );
    const count = 10_000;
    const tokens = Array.from({ length: count }, (_, index) => {
      return store.open(identityOf(`u${String(index % 20)}`, new Password(''))).token;
    });
    assert.equal(new Set(tokens).size, count);
    const ones = Array.from({ length: 128 }, () => 0);
    for (const token of tokens) {
      assert.match(token, /^[0-9a-f]{32}$/);
      for (const [bit, digit] of [...BigInt(`0x${token}`).toString(2).padStart(128, '0')].entries())
        if (digit === '1') ones[bit] = (ones[bit] ?? 0) + 1;
    }
    // Seven standard deviations: once in 10^9 runs.
    for (const each of ones) assert.ok(Math.abs(each - count / 2) < 350, ones.join());
  });

  it('are invalid once they have expired, swept or not', () => {
    let now = 0;
    const store = new SessionStore(
      () => now,
      () => 1000,
    );
    const { token } = store.open(ann);
    now = 999;
    assert.ok(store.find(token));
    now = 1000;
    assert.equal(store.find(token), undefined);
  });
});
