# The sources of the Go module and the hash of its vendored modules. A file that is left out here changes neither.
let
  root = ../.;
  hashes = builtins.fromJSON (builtins.readFile (root + "/flakehashes.json"));
  enters = [
    "analysis"
    "artifacts"
    "containers"
    "go.mod"
    "go.sum"
    "magefile.go"
    "pipeline"
    "transports"
  ];
  fits = name: builtins.hashFile "sha256" (root + "/${name}") == hashes.of.${name};
in
if !(builtins.all fits (builtins.attrNames hashes.of)) then
  throw "flakehashes.json belongs to another go.mod or go.sum; run `go tool mage flakeHashes`"
else
  {
    inherit (hashes) vendorHash;
    src = builtins.path {
      name = "transportbench-source";
      path = root;
      filter = path: _: dirOf path != toString root || builtins.elem (baseNameOf path) enters;
    };
  }
