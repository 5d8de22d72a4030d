# Of nixpkgs' lib, what the flake uses.
rec {
  nameValuePair = name: value: { inherit name value; };
  genAttrs = names: f: builtins.listToAttrs (map (n: nameValuePair n (f n)) names);
  mapAttrsToList = f: set: map (n: f n set.${n}) (builtins.attrNames set);
  concatStrings = builtins.concatStringsSep "";
  concatMapStrings = f: list: concatStrings (map f list);
  licenses.mit.spdxId = "MIT";
  platforms.linux = [
    "x86_64-linux"
    "aarch64-linux"
  ];
}
