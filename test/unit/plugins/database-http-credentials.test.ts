import assert from 'node:assert/strict';
import { readCredentials } from '../../../plugins/database-http/access/credentials.ts';
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

  it('that are short and happen to be hex digits are a password all the same', () => {
    // The original reads base64 of "i\xb7\x1d:" and the like as a token.
    assert.equal(read(`Basic ${base64('i:i')}`), 'i / i');
  });

  it('of other systems are taken where a route says so, and nowhere else', () => {
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
  it('gets slower with each failure, in parallel too, and never refuses the user from elsewhere', () => {
    let now = 0;
    const throttle = new LoginThrottle(() => now);
    const waits: (number | undefined)[] = [];
    for (let index = 0; index < 9; index++) {
      waits.push(throttle.waitMs('ann', '10.0.0.1'));
      throttle.failed('ann', '10.0.0.1');
    }
    assert.deepEqual(waits.slice(0, 3), [0, 0, 0]);
    assert.ok((waits[5] ?? 0) > (waits[4] ?? 0));
    // Without waiting in between the next attempts queue up until they are turned away.
    const crowd = Array.from({ length: 20 }, () => throttle.waitMs('ann', '10.0.0.1'));
    assert.equal(crowd.at(-1), undefined);
    assert.ok((throttle.waitMs('ann', '10.0.0.2') ?? 9999) <= 1000);
    assert.equal(throttle.waitMs('bob', '10.0.0.2'), 0);
    now += 15 * 60_000;
    assert.equal(throttle.waitMs('ann', '10.0.0.1'), 0);
  });

  it('of many users from one address gets slower too', () => {
    const throttle = new LoginThrottle(() => 0);
    for (let index = 0; index < 15; index++) throttle.failed(`user${String(index)}`, '10.0.0.1');
    assert.ok((throttle.waitMs('fresh', '10.0.0.1') ?? 9999) > 0);
    assert.equal(throttle.waitMs('fresh', '10.0.0.2'), 0);
  });

  it('is forgiven after the right password', () => {
    const throttle = new LoginThrottle(() => 0);
    for (let index = 0; index < 5; index++) throttle.failed('ann', '10.0.0.1');
    assert.notEqual(throttle.waitMs('ann', '10.0.0.1'), 0);
    throttle.succeeded('ann', '10.0.0.1');
    assert.equal(throttle.waitMs('ann', '10.0.0.1'), 0);
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

  it('are at most a thousand for one user; the one unused for longest goes', () => {
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

  it('are dead once their time is over, whatever swept or did not', () => {
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
