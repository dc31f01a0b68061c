import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { isSettingName } from '../../../../../plugins/database-http/server-settings.ts';
import { builtInServices } from '../../../../../src/worker/built-in-plugins.ts';
import { Password } from '../../../../../src/config/password.ts';
import { parseConnectionUrl } from '../../../../../plugins/database/executor/connection-url.ts';
import { javaRegexMatcher } from '../../../../../src/java/java-regex.ts';
import { ConfigError } from '../../../../../src/errors.ts';

describe('S14: names of properties that every object has', () => {
  it('are not accepted as modes, settings, types, services or parameters', async () => {
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      assert.throws(() => parseConnectionUrl(`postgresql://u@h/d?sslmode=${name}`), /sslmode/, name);
      assert.equal(isSettingName(name), false, name);
      assert.throws(() => javaRegexMatcher(`\\p{${name}}`), name);
      await assert.rejects(builtInServices([name]), /there is no service/, name);
    }
  });
});

describe('connection URL', () => {
  it('of the documentation sets server, database and the values of options', () => {
    const settings = parseConnectionUrl('jdbc:db://db.example:26257/plant', {
      user: 'ada',
      password: new Password('se:cret@'),
    });
    assert.deepEqual(settings.servers, [{ host: 'db.example', port: 26257 }]);
    assert.equal(settings.database, 'plant');
    assert.equal(settings.user, 'ada');
    assert.equal(settings.password?.reveal(), 'se:cret@');
    assert.equal(settings.tls.mode, 'prefer');
    assert.equal(settings.connectTimeoutMs, 10_000);
    assert.equal(settings.applicationName, 'sluice');
  });

  it('names several servers in order, IPv6 in brackets, with port 5432 by default', () => {
    const { servers } = parseConnectionUrl('jdbc:postgresql://one:1,[fe80::1]:2,[::1],three/d?user=u');
    assert.deepEqual(servers, [
      { host: 'one', port: 1 },
      { host: 'fe80::1', port: 2 },
      { host: '::1', port: 5432 },
      { host: 'three', port: 5432 },
    ]);
  });

  it('may contain user and password, percent-encoded, including an @', () => {
    const settings = parseConnectionUrl('postgresql://us%40er:p%3Aw@x@h:1/my%20db');
    assert.equal(settings.user, 'us@er');
    assert.equal(settings.password?.reveal(), 'p:w@x');
    assert.equal(settings.database, 'my db');
    assert.deepEqual(settings.servers, [{ host: 'h', port: 1 }]);
  });

  it('is overridden by the options of user, password and database', () => {
    const settings = parseConnectionUrl('jdbc:db://h/a?user=u&password=p', {
      user: 'o',
      password: new Password('q'),
      database: 'b',
    });
    assert.deepEqual([settings.user, settings.password?.reveal(), settings.database], ['o', 'q', 'b']);
  });

  it('sets TLS, timeout, schema and name by the parameters of JDBC and libpq', () => {
    const settings = parseConnectionUrl(
      'jdbc:db://h/d?user=u&sslmode=verify-full&sslrootcert=/ca.pem&sslcert=c&sslkey=k&connectTimeout=3' +
        '&ApplicationName=mine&currentSchema=a,b&targetServerType=primary&prepareThreshold=0&reWriteBatchedInserts=true',
    );
    assert.deepEqual(settings.tls, {
      mode: 'verify-full',
      rootCertificatePath: '/ca.pem',
      certificatePath: 'c',
      keyPath: 'k',
      keyPassword: undefined,
    });
    assert.equal(settings.connectTimeoutMs, 3000);
    assert.equal(settings.applicationName, 'mine');
    assert.equal(settings.searchPath, 'a,b');
    assert.equal(settings.target, 'primary');
    assert.equal(settings.namedStatements, false);
  });

  it('reads ssl=true as the JDBC driver does', () => {
    const mode = (query: string): string => parseConnectionUrl(`jdbc:db://h/d?user=u&${query}`).tls.mode;
    assert.equal(mode('ssl=true'), 'verify-full');
    assert.equal(mode('ssl=true&sslfactory=org.postgresql.ssl.NonValidatingFactory'), 'require');
    assert.equal(mode('ssl=false'), 'prefer');
    assert.equal(mode('ssl=true&sslmode=disable'), 'disable');
  });

  const wrong: [string, RegExp][] = [
    ['jdbc:db://h/d?user=u&sslmod=verify-full', /the parameter "sslmod" is unknown; did you mean sslmode\?/],
    ['', /must look like jdbc:db:\/\/host:port/],
    ['http://h/d?user=u', /check connection.url is correct/],
    ['jdbc:mysql://h/d', /check connection.url is correct/],
    ['jdbc:db://h:0/d?user=u', /port of "h:0" must be between 1 and 65535/],
    ['jdbc:db://h:99999/d?user=u', /must be between 1 and 65535/],
    ['jdbc:db://h:x/d?user=u', /"h:x" is not host:port/],
    ['jdbc:db:///d?user=u', /"" is not host:port/],
    ['jdbc:db://h,,i/d?user=u', /"" is not host:port/],
    ['jdbc:db://::1/d?user=u', /IPv6 address in brackets/],
    ['jdbc:db://h/d', /no database user: set connection.user/],
    ['jdbc:db://h?user=u', /no database: set connection.database/],
    ['jdbc:db://h/?user=u', /no database: set connection.database/],
    ['jdbc:db://h/d?user=u&sslmode=sometimes', /sslmode "sometimes" is not one of disable, allow, prefer/],
    ['jdbc:db://h/d?user=u&connectTimeout=soon', /connectTimeout must be whole seconds/],
    ['jdbc:db://h/d?user=u&ssl', /the parameter "ssl" has no value/],
    ['jdbc:db://h/d%zz?user=u', /the database name has a % that is not followed by two hexadecimal digits/],
    ['jdbc:db://h/d?user=u&targetServerType=slow', /targetServerType "slow" is not one of any, primary/],
  ];
  for (const [url, message] of wrong) {
    it(`is refused with the reason: ${url}`, () => {
      assert.throws(
        () => parseConnectionUrl(url),
        (error: unknown) => error instanceof ConfigError && message.test(error.message),
      );
    });
  }

  it('never shows the password, in errors or when printed', () => {
    const bad = ['postgresql://u:hunter2@h:bad/d', 'postgresql://u:hunter2@h:1/d?sslmode=x', 'mysql://u:hunter2@h/d'];
    for (const url of bad) {
      assert.throws(
        () => parseConnectionUrl(url),
        (error: unknown) => error instanceof Error && !error.message.includes('hunter2'),
      );
    }
    const settings = parseConnectionUrl('postgresql://u:hunter2@h:1/d?sslpassword=hunter2');
    assert.ok(!inspect(settings, { depth: 9 }).includes('hunter2'));
    assert.ok(!JSON.stringify(settings).includes('hunter2'));
  });
});
