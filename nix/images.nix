# The container images of containers/images.yaml, made by dockerTools: the same files and settings, which nix/stub/prove compares.
# The digests differ, because Nix brings its own toolchain and puts all files into one layer.
{
  lib,
  dockerTools,
  runCommand,
  removeReferencesTo,
  glibc,
  bench,
}:
let
  drivers = [
    "tcp"
    "raknet"
    "kcp-c"
    "quic-go"
    "kcp-go"
    "udp"
  ];
  nobody = 65534;

  # Static programs need nothing from the store; what glibc compiled in of its own path is cut out, so that nothing else gets in.
  root =
    name: files:
    runCommand "transportbench-image-${name}"
      {
        nativeBuildInputs = [ removeReferencesTo ];
        allowedReferences = [ ];
      }
      (
        "mkdir $out\n"
        + lib.concatStrings (
          lib.mapAttrsToList (to: from: ''
            cp ${from} $out/${to}
            chmod u+w $out/${to}
            remove-references-to -t ${glibc} -t ${glibc.static} -t ${bench} $out/${to}
            chmod 0555 $out/${to}
          '') files
        )
      );
  image =
    name: files: folders: title: config:
    dockerTools.buildImage {
      name = "transportbench/${name}";
      tag = "nix";
      created = "1970-01-01T00:00:00Z";
      copyToRoot = root name files;
      # Not in the store, where nothing is writable: the owner of a volume has to write into it.
      extraCommands = lib.concatMapStrings (folder: "mkdir -m 0755 ${folder}\n") folders;
      uid = nobody;
      gid = nobody;
      config = config // {
        WorkingDir = "/";
        Labels = {
          "org.opencontainers.image.title" = "${title} ${name}";
          "org.opencontainers.image.source" = "transportbench";
          "org.opencontainers.image.version" = "1";
          "org.opencontainers.image.licenses" = "NOASSERTION";
        };
      };
    };
  driver =
    name:
    lib.nameValuePair "image-${name}" (
      image name
        {
          launch = "${bench}/libexec/transportbench/launch";
          driver = "${bench}/libexec/transportbench/${name}";
        }
        [ "results" ]
        "transportbench driver"
        {
          Entrypoint = [ "/launch" ];
          User = "${toString nobody}:${toString nobody}";
          Volumes."/results" = { };
        }
    );
in
{
  image-holder =
    image "holder" { bench = "${bench}/bin/bench"; } [ ] "transportbench network"
      {
        Entrypoint = [
          "/bench"
          "link"
          "hold"
        ];
        User = "0:0";
      };
}
// builtins.listToAttrs (map driver drivers)
