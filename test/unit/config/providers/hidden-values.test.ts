import assert from 'node:assert/strict';
import type { ConfigInfos } from '../../../../src/config/config-values.ts';
import { withHiddenValues } from '../../../../src/config/providers/hidden-results.ts';
import { withVariables } from '../../../../src/config/providers/variables.ts';
import { SecretMask } from '../../../../src/observe/secret-mask.ts';

describe('configurations of tasks', () => {
  const given = { password: '${file:/p:k}', user: 'me', topics: 'orders' };
  const values = new Map([['${file:/p:k}', 'hunter2-hunter2']]);

  it('are stored with the variable if the connector copied its value', () => {
    const made = { ...given, password: 'hunter2-hunter2', 'task.id': '0' };
    assert.deepEqual(withVariables(made, given, values), { ...given, 'task.id': '0' });
  });

  it('are stored with the variable if the connector included its value in another one', () => {
    const made = withVariables({ url: 'db://me:hunter2-hunter2@host' }, given, values);
    assert.deepEqual(made, { url: 'db://me:${file:/p:k}@host' });
  });

  it('keep text that contains a short value by chance', () => {
    const port = new Map([['${env:PORT}', '5']]);
    assert.deepEqual(withVariables({ size: '500' }, { port: '${env:PORT}' }, port), { size: '500' });
  });
});

describe('the results of a validation', () => {
  const secrets = new SecretMask();
  secrets.add('hunter2-hunter2');

  function shown(name: string, value: string | null, errors: readonly string[], given: string, resolved: string) {
    const view = { name, value, recommended_values: [], errors, visible: true };
    const infos: ConfigInfos = { name: 'X', error_count: 0, groups: [], configs: [{ definition: null, value: view }] };
    const hidden = withHiddenValues(infos, { [name]: given }, { [name]: resolved }, secrets);
    const [only] = hidden.configs;
    return { value: only?.value.value, errors: only?.value.errors };
  }

  it('show the variable, null for an invalid value, and [hidden] for a password', () => {
    assert.equal(shown('a', 'seven', [], '${e:k}', 'seven').value, '${e:k}');
    assert.equal(shown('a', null, [], '${e:k}', 'seven').value, null);
    assert.equal(shown('a', '[hidden]', [], '${e:k}', 'seven').value, '[hidden]');
  });

  it('report errors without the value, however short it is', () => {
    const error = 'Invalid value x7 for configuration a: Not a number of type INT';
    assert.deepEqual(shown('a', null, [error], '${e:k}', 'x7').errors, [
      'Invalid value [hidden] for configuration a: Not a number of type INT',
    ]);
    const list = 'Invalid value [u, v] for configuration a: no';
    assert.deepEqual(shown('a', null, [list], '${e:k}', 'u,v').errors, [
      'Invalid value [hidden] for configuration a: no',
    ]);
  });

  it("use Connect's message if an error quotes the value elsewhere", () => {
    const error = 'Invalid value x7 for configuration a: no table x7';
    assert.deepEqual(shown('a', null, [error], '${e:k}', 'x7').errors, [
      "Invalid value for configuration 'a': the value resolved from the config provider reference failed validation",
    ]);
  });

  it('do not show it for other options either', () => {
    const { value, errors } = shown('a', 'x', ['no entry for hunter2-hunter2'], 'x', 'x');
    assert.deepEqual({ value, errors }, { value: 'x', errors: ['no entry for [hidden]'] });
  });
});
