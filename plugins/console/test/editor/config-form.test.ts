import assert from 'node:assert/strict';
import type { ConsoleValidation } from '../../src/common/answers.ts';
import { configDifference } from '../../src/editor/config-difference.ts';
import { errorsOf, fieldGroups, fieldsOf } from '../../src/editor/config-form.ts';

type Config = ConsoleValidation['configs'][number];
type Given = Partial<Config['value']> & Partial<NonNullable<Config['definition']>>;

function option(name: string, given: Given = {}): Config {
  const { errors = [], visible = true, recommended_values = [], ...more } = given;
  return {
    definition: {
      name,
      type: 'STRING',
      required: false,
      default_value: null,
      importance: 'MEDIUM',
      documentation: '',
      group: 'Connection',
      order: 1,
      order_in_group: 1,
      width: 'NONE',
      dependents: [],
      display_name: name,
      ...more,
    },
    value: { name, errors, visible, recommended_values },
  };
}

const validation = (...configs: Config[]): ConsoleValidation => ({
  groups: ['Common', 'Connection'],
  configs,
  secrets: [],
  unknown: [],
  withheld: { keys: [], because: [] },
  restarts: true,
});

const keys = (found: ReturnType<typeof fieldGroups>) =>
  found.map(({ title, fields, advanced }) => [title, fields.map(({ key }) => key), advanced.map(({ key }) => key)]);

describe('the form of a configuration', () => {
  it('shows required options first, groups and options in order, and advanced options apart unless they are set or invalid', () => {
    const found = fieldGroups(
      validation(
        option('second', { order: 2 }),
        option('first'),
        option('rare', { importance: 'LOW', order: 3 }),
        option('rare.set', { importance: 'LOW', order: 4 }),
        option('rare.wrong', { importance: 'LOW', order: 5, errors: ['too small'] }),
        option('name', { required: true, group: 'Common' }),
        option('added.by.the.worker', { required: true, importance: 'LOW', order: 6 }),
        option('lone', { group: null }),
        option('tasks.max', { group: 'Common' }),
      ),
      [
        ['rare.set', '1'],
        ['mine', 'kept'],
      ],
      new Set(['rare.set', 'mine']),
    );
    assert.deepEqual(keys(found), [
      ['Required', ['name'], []],
      ['Common', ['tasks.max'], []],
      ['Connection', ['first', 'second', 'rare.set'], ['rare', 'rare.wrong', 'added.by.the.worker']],
      ['More options', ['lone'], []],
      ['Other keys', ['mine'], []],
    ]);
    assert.deepEqual(
      found.map(({ isOpen }) => isOpen),
      [true, false, true, false, true],
    );
    assert.deepEqual(
      found.map(({ isAdvancedOpen }) => isAdvancedOpen),
      [false, false, true, false, false],
    );
  });

  it('does not move an option while it is being typed', () => {
    const options = validation(option('often'), option('rare', { importance: 'LOW' }));
    const before = keys(fieldGroups(options, [], new Set()));
    assert.deepEqual(keys(fieldGroups(options, [['rare', '1']], new Set())), before);
  });

  it('hides invisible options unless they are invalid, and keeps unknown ones', () => {
    const found = fieldGroups(
      validation(option('hidden', { visible: false }), option('hidden.wrong', { visible: false, errors: ['no'] }), {
        definition: null,
        value: { name: 'null.value', errors: ['null'], visible: true, recommended_values: [] },
      }),
      [['hidden', 'kept in the document']],
      new Set(['hidden']),
    );
    assert.deepEqual(keys(found), [
      ['Connection', ['hidden.wrong'], []],
      ['Other keys', ['null.value'], []],
    ]);
  });

  it('leaves out options that the page shows elsewhere, and shows the settings of new topics in their group', () => {
    const options = {
      ...validation(option('url', { required: true }), option('user'), option('other')),
      groups: ['Connection', 'Topic Creation'],
    };
    const entries = [
      ['url', 'a'],
      ['topic.creation.default.partitions', '1'],
    ] as const;
    assert.deepEqual(keys(fieldGroups(options, entries, new Set(), ['url', 'user'])), [
      ['Connection', ['other'], []],
      ['Topic Creation', ['topic.creation.default.partitions'], []],
    ]);
    const apart = fieldsOf(options, entries, ['user', 'url', 'there.is.none']);
    assert.deepEqual(
      apart.map(({ key }) => key),
      ['user', 'url'],
    );
  });

  it('shows an error of a key once, even if it is reported twice', () => {
    const wrong = errorsOf(
      validation(option('a', { errors: ['x', 'x'] }), option('a', { errors: ['x', 'y'] }), option('b')),
    );
    assert.deepEqual([...wrong], [['a', ['x', 'y']]]);
  });
});

describe('the difference of a configuration', () => {
  it('names keys that are added, changed and removed, and shows no secret', () => {
    const before = [
      ['a', '1'],
      ['gone', 'x'],
      ['password', '[hidden]'],
      ['token', '[hidden]'],
    ] as const;
    const after = [
      ['password', 'new one'],
      ['a', '2'],
      ['token', '[hidden]'],
      ['toString', 'x'],
    ] as const;
    assert.deepEqual(configDifference(before, after, new Set(['password', 'token'])), [
      { key: 'a', kind: 'changed', isSecret: false, before: '1', after: '2' },
      { key: 'gone', kind: 'removed', isSecret: false, before: 'x', after: null },
      { key: 'password', kind: 'changed', isSecret: true, before: null, after: null },
      { key: 'toString', kind: 'added', isSecret: false, before: null, after: 'x' },
    ]);
  });
});
