import type { Herder } from '../../herder/herder.ts';
import type { ConnectorValidation } from '../../herder/validation.ts';
import type { PreviewReadings } from '../preview/preview-readings.ts';
import { variableKeys, type Withheld } from '../../config/secret-destinations.ts';
import { isSameButLimits } from '../../config/rate-limit-options.ts';
import { unknownOptions } from '../../config/unknown-options.ts';
import type { ConfigInfos } from '../../config/config-values.ts';
import { RequestError } from '../../errors.ts';
import { secretKeys } from '../history/password-keys.ts';
import type { HttpAnswer } from '../../http/http-client.ts';
import type { SecretMask } from '../../observe/secret-mask.ts';
import { hiddenInJson } from '../preview/hidden-json.ts';
import { goneSignal } from '../../rest/client-gone.ts';
import { StageTracker } from '../../observe/stage.ts';
import { parseInitialState, requireValid, withName } from '../../rest/connectors-resource.ts';
import { forwardAs } from '../../rest/forwarding.ts';
import { PREVIEW } from '../preview/preview-answers.ts';
import { readPreview } from '../preview/preview-body.ts';
import { objectOf, TEXT, withKeywords } from '../../json/open-api.ts';
import { validatorOf } from '../../json/validator.ts';
import {
  asConfig,
  checkBody,
  CONFIG_BODY,
  readConfig,
  readCreateConnector,
  readJsonText,
} from '../../rest/request-body.ts';
import type { RequestSenders } from '../../rest/request-sender.ts';
import { answer, answerText, flag, pathName, withinTimeLimit, type Context, type Route } from '../../rest/resource.ts';
import { completing, hiding, requireStored, withheldFrom, type Completed } from './completed-config.ts';
import { bareText, configMask, MARK, missingText, shownConfig, withStoredValues } from './config-secrets.ts';
import {
  CONSOLE_VALIDATION,
  NAMED,
  STORED_CONFIG,
  type ConsoleValidation,
  type StoredConfig,
} from './console-answers.ts';

const isSave = validatorOf(objectOf({ config: CONFIG_BODY, version: withKeywords(TEXT, { maxLength: 64 }) }));

interface ConfigParts {
  readonly herder: Herder;
  readonly validation: ConnectorValidation;
  readonly previews: PreviewReadings;
  readonly senders: RequestSenders;
  readonly isReadOnly: boolean;
}

/**
 * Configurations of connectors for browsers. Secrets are never sent to a browser; `MARK` replaces each of them. If a
 * browser sends `MARK` as a value, the stored value is used.
 */
export function configResource({ herder, validation, previews, senders, isReadOnly }: ConfigParts): readonly Route[] {
  const { plugins } = validation;
  const complete = completing(herder.directory, plugins);

  return [
    {
      method: 'GET',
      path: '/ui/connectors/:connector/config',
      answers: { 200: STORED_CONFIG },
      handle: async (context) => {
        const name = pathName(context, 'connector');
        if (herder.directory.configOf(name) === undefined) await herder.catchUp();
        const config = herder.directory.config(name);
        const secrets = await secretKeys(config, plugins);
        const { entries, version } = shownConfig(config, secrets);
        const shown: StoredConfig = { name, entries, version, mark: MARK, secrets: [...secrets] };
        answer(context, 200, shown);
      },
    },
    {
      method: 'PUT',
      path: '/ui/connectors/:connector/config',
      answers: { 200: NAMED, 201: NAMED },
      handle: async (context) => {
        const name = pathName(context, 'connector');
        const { config: sent, version } = checkBody(isSave, (await readJsonText(context.req)).parsed);
        await herder.catchUp();
        const stored = herder.directory.config(name);
        const storedSecrets = await secretKeys(stored, plugins);
        if (shownConfig(stored, storedSecrets).version !== version) throw changed(name);
        const { config, missing, kept } = withStoredValues(withName(asConfig(sent), name), stored);
        requireStored(missing);
        const secrets = await secretKeys(config, plugins);
        const bare = [...kept.keys()].filter((key) => storedSecrets.has(key) && !secrets.has(key));
        if (bare.length > 0) throw new RequestError(400, bare.map(bareText).join('\n'));
        const mask = configMask(config, secrets, kept);
        forwardAs(context, {
          path: `/connectors/${encodeURIComponent(name)}/config`,
          body: Buffer.from(JSON.stringify(config)),
          answered: (theirs) => {
            answerOf(context, theirs, mask, { name });
          },
        });
        await hiding(mask, async () => {
          const valid = await requireValid(validation, config);
          const by = await senders.of(context);
          const put = herder.requests.changeConfig(name, stored, valid, by);
          if ((await withinTimeLimit(herder.stage, put)) === undefined) throw changed(name);
        });
        answer(context, 200, { name });
      },
    },
    {
      method: 'POST',
      path: '/ui/connectors',
      answers: { 201: NAMED },
      handle: async (context) => {
        const { name, config: sent, initialState } = await readCreateConnector(context.req);
        if (/^\.{1,2}$/.test(name))
          throw new RequestError(
            400,
            `A connector cannot be named ${name}, because no URL can address it: choose another name`,
          );
        const { missing } = withStoredValues(sent, {});
        requireStored(missing);
        const config = withName(sent, name);
        const mask = configMask(config, await secretKeys(config, plugins));
        const body = { name, config, ...(initialState === undefined ? {} : { initial_state: initialState }) };
        forwardAs(context, {
          path: '/connectors',
          body: Buffer.from(JSON.stringify(body)),
          answered: (theirs) => {
            answerOf(context, theirs, mask, { name });
          },
        });
        await hiding(mask, async () => {
          const state = parseInitialState(initialState);
          const valid = await requireValid(validation, config);
          const by = await senders.of(context);
          const put = herder.requests.putConnector(name, valid, { replace: false, initialState: state, by });
          await withinTimeLimit(herder.stage, put);
        });
        answer(context, 201, { name });
      },
    },
    // The query parameter `connector` names the connector whose stored values replace each `MARK`. If an address or a
    // class differs from the stored one, stored secrets and values of variables may have to be withheld from it
    // (`withheld`); then the validation connects to no system. A read-only console does not resolve variables, and
    // connects only with the stored configuration.
    {
      method: 'PUT',
      path: '/ui/connector-plugins/:plugin/validate',
      answers: { 200: CONSOLE_VALIDATION },
      handle: async (context) => {
        const completed = await complete(context, await readConfig(context.req));
        const stage = new StageTracker();
        const held = withheldFrom(completed, isReadOnly);
        const infos = await hiding(completed.mask, () =>
          withinTimeLimit(
            stage,
            validation.validateFor(pathName(context, 'plugin'), completed.config, stage, {
              listed: 'all',
              resolves: !isReadOnly,
              connects: held.keys.length === 0 && (!isReadOnly || isStored(completed)),
            }),
          ),
        );
        answer(context, 200, validationView(infos, completed, held, isReadOnly));
      },
    },
    {
      method: 'POST',
      path: '/ui/connector-plugins/:plugin/preview',
      answers: { 200: PREVIEW },
      handle: async (context) => {
        const request = await readPreview(context.req);
        const completed = await complete(context, request.config);
        const { config, missing, kept, mask } = completed;
        const decodeOnly = flag(context, 'decode');
        if (!decodeOnly) requireStored(missing);
        const stored = completed.stored && { config: completed.stored, kept: [...kept.keys()] };
        const asked = { ...request, config, stored, decodeOnly };
        const work = previews.preview(pathName(context, 'plugin'), asked, goneSignal(context));
        const text = await hiding(mask, () => withinTimeLimit(herder.stage, work));
        answerText(
          context,
          200,
          hiddenInJson(text, (value) => mask.hide(value)),
        );
      },
    },
  ];
}

function isStored({ config, stored }: Completed): boolean {
  const keys = Object.keys({ ...config, ...stored });
  return stored !== undefined && keys.every((key) => config[key] === stored[key]);
}

/**
 * The validation for the browser. It leaves out the values, which the browser already knows, and errors of options
 * whose variables were not resolved.
 */
function validationView(
  infos: ConfigInfos,
  completed: Completed,
  held: Withheld,
  isReadOnly: boolean,
): ConsoleValidation {
  const { config, missing, secrets, stored, mask } = completed;
  const without = new Set(missing);
  const unknown = new Set(isReadOnly ? variableKeys(config) : []);
  const configs = infos.configs.map(({ definition, value }) => {
    const { name, recommended_values, visible } = value;
    const errors = unknown.has(name) ? [] : value.errors.map((error) => mask.hide(error));
    return {
      definition,
      value: { name, recommended_values, visible, errors: without.has(name) ? [missingText(name)] : errors },
    };
  });
  const given = Object.fromEntries(Object.entries(config).filter(isText));
  const known = infos.configs.map(({ value }) => value.name);
  return {
    groups: infos.groups,
    configs,
    unknown: unknownOptions(Object.keys(config), known),
    secrets: [...secrets],
    withheld: held,
    restarts: stored !== undefined && !isSameButLimits(stored, given),
  };
}

function isText(entry: [string, string | null]): entry is [string, string] {
  return entry[1] !== null;
}

function changed(name: string): RequestError {
  return new RequestError(409, `The configuration of ${name} was changed in the meantime: load it again`);
}

/**
 * Answers with the status of the leader. If the request succeeded, the body is `done`, because the leader's own answer
 * contains the configuration in clear text.
 */
export function answerOf(
  context: Context,
  { status, body }: HttpAnswer,
  mask: SecretMask,
  done: { readonly name: string },
) {
  if (status < 400) answer(context, status, done);
  else answerText(context, status, mask.hide(body.toString()));
}
