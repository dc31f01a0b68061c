import type { OptionDeclarations } from '../../config/option.ts';
import { CONNECT_VERSION } from '../../version.ts';
import type { ConnectorConfig, Transformation, TransformationPlugin } from '../api.ts';
import { RECORD_PARTS, type RecordPart } from './record-part.ts';

const PACKAGE = 'org.apache.kafka.connect.transforms';

/** A transformation of whole records: one plugin, `…transforms.Name`. */
export function recordTransformation(
  name: string,
  options: OptionDeclarations,
  create: (config: ConnectorConfig) => Transformation,
): readonly TransformationPlugin[] {
  return [{ type: 'transformation', className: `${PACKAGE}.${name}`, version: CONNECT_VERSION, options, create }];
}

/** A transformation of keys or values: two plugins, `…transforms.Name$Key` and `…transforms.Name$Value`. */
export function partTransformation(
  name: string,
  options: OptionDeclarations,
  create: (config: ConnectorConfig, part: RecordPart) => Transformation,
): readonly TransformationPlugin[] {
  return Object.entries(RECORD_PARTS).flatMap(([partName, part]) =>
    recordTransformation(`${name}$${partName}`, options, (config) => create(config, part)),
  );
}
