# Packages that run the tools of this machine. host.json, which nix/stub/prove writes beside this file, says where Go keeps its caches.
{ lib, system }:
let
  host = builtins.fromJSON (builtins.readFile ./host.json);

  run =
    name: env: script:
    let
      made = derivation (
        {
          inherit name system;
          builder = "/bin/bash";
          # The shell itself has to end last: a last command would take its place and close its output before it ends, and Nix kills
          # whoever has closed it.
          args = [
            "-euc"
            "${script}\nexit 0"
          ];
          PATH = lib.concatStrings (map (p: "${p}/bin:") (env.nativeBuildInputs or [ ])) + host.path;
          GOMODCACHE = host.modcache;
          GOCACHE = host.cache;
          GOPROXY = "off";
          GOSUMDB = "off";
          GOTOOLCHAIN = "local";
        }
        // builtins.removeAttrs env [ "meta" "nativeBuildInputs" ]
      );
    in
    made // { meta = env.meta or { }; };

  # As buildGoModule: a first derivation vendors the modules and has vendorHash as its digest, a second one builds from them.
  buildGoModule =
    args:
    let
      modules = run "${args.pname}-modules" {
        outputHashMode = "recursive";
        outputHashAlgo = "sha256";
        outputHash = args.vendorHash;
      } "cp -r ${args.src} source; chmod -R u+w source; cd source; export HOME=$TMPDIR; go mod vendor; cp -r vendor $out";
      install = "go install -ldflags=${builtins.toJSON (toString (args.ldflags or [ ]))} ${
        toString (map (p: "./" + p) (args.subPackages or [ ]))
      }";
    in
    run args.pname (args.env // { inherit (args) meta; }) ''
      export HOME=$TMPDIR GOPATH=$TMPDIR/go GOFLAGS='-mod=vendor -trimpath'
      cp -r ${args.src} source
      chmod -R u+w source
      cd source
      cp -r ${modules} vendor
      ${args.buildPhase or install}
      ${args.postBuild or ""}
      mkdir -p $out
      cp -r "$GOPATH/bin" $out
      ${args.postInstall or ""}
    '';

  # The archive that `docker load` takes, as far as a comparison of files and settings needs it.
  buildImage =
    args:
    run "${builtins.replaceStrings [ "/" ] [ "-" ] args.name}.tar" { config = builtins.toJSON args.config; } ''
      mkdir image
      cp -r ${args.copyToRoot} layer
      chmod u+w layer
      (cd layer; ${args.extraCommands or ""})
      tar -C layer --sort=name --mtime=@0 --owner=${toString args.uid} --group=${toString args.gid} --numeric-owner -cf image/layer.tar .
      printf '{"created":"${args.created}","config":%s}' "$config" > image/config.json
      printf '[{"Config":"config.json","RepoTags":["${args.name}:${args.tag}"],"Layers":["layer.tar"]}]' > image/manifest.json
      tar -C image --sort=name --mtime=@0 -cf $out .
    '';

  # The tools of this machine are found without any input.
  empty = name: run name { } "mkdir $out";

  pkgs = {
    inherit lib buildGoModule;
    runCommand = run;
    # Nothing can be fetched here. An empty archive makes `bench drivers build` leave out what it would have needed.
    fetchurl = args: run "empty.tar.gz" { } "mkdir -p empty/sources; tar -czf $out empty";
    glibc = empty "glibc" // {
      static = empty "glibc-static";
    };
    enet = empty "enet";
    # Nothing that is built here refers to the store.
    removeReferencesTo = run "remove-references-to" { } "mkdir -p $out/bin; ln -s $(type -P true) $out/bin/remove-references-to";
    go = empty "go";
    gcc = empty "gcc";
    git = empty "git";
    nixfmt-tree = empty "nixfmt-tree";
    linuxPackages = { };
    mkShell = args: run "shell" { inherit (args) LIBRARY_PATH; } "echo ${toString args.packages} > $out";
    dockerTools = { inherit buildImage; };
    # No machine is started: the parts of the test are evaluated and its script is written down.
    testers.runNixOSTest =
      args: run "${args.name}-not-run" { nodes = builtins.toJSON args.nodes; script = args.testScript; } ''printf %s "$script" > $out'';
    callPackage = f: args:
      let
        g = if builtins.isPath f then import f else f;
      in
      g (builtins.intersectAttrs (builtins.functionArgs g) pkgs // args);
  };
in
pkgs
